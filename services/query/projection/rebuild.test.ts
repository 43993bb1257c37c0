/** Read models are rebuilt beside the live ones and replace them at once, whatever process is killed meanwhile. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { taskStream, userStream } from '#domain/kernel/streams.ts'
import { TaskUpdated } from '#domain/task/events.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { task } from '#domain/task/task.ts'
import { UserRegistered } from '#domain/user/events.ts'
import { views } from '#domain/views/registry.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { mainProjection } from '#platform/reads/projectionWait.ts'
import { identified } from '#platform/http/guards.ts'
import { EngineUnavailable, NotFolded } from '#platform/ports/faults.ts'
import { changeCatalog, type Catalog, type ReadStore } from '#platform/ports/readStore.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { executionId, messageId, sessionId, taskId, userId } from '../../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { startProjector, type Rebuilding } from './projector.ts'
import { folding } from './rebuild.ts'
import { onThreads } from './rebuildThread.ts'
import { foldView } from '../../../tests/domain/fold.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const createTask = (n: number) =>
  engines.commands.execute(
    task,
    taskStream(taskId(n)),
    { ...creating(), taskId: taskId(n), messageId: messageId(n), executionId: executionId(n) },
    cause(),
  )
const retitled = async (n: number, title: string) => {
  const stream = taskStream(taskId(n))
  const head = await engines.log.headOf(stream)
  await engines.log.append(stream, head, [TaskUpdated.of({}, { title, description: '' })], cause())
}
const catalog = () => engines.readStore.catalog()
const change = (to: Partial<Catalog>) => changeCatalog(engines.readStore, (now) => ({ ...now, ...to }))
const liveNames = async () =>
  Object.fromEntries(
    Object.entries((await catalog()).live).map(([collection, { name }]) => [collection, name]),
  )
const isWhole = async () => {
  const { live, building, wanted } = await catalog()
  return Object.keys(live).length === views.length && building === null && wanted.length === 0
}

async function projectedToTheEnd(): Promise<void> {
  const head = await engines.eventStore.head()
  await eventually(
    'everything is projected',
    async () => (await engines.readStore.checkpoint(mainProjection)) === head,
  )
}

async function stored(): Promise<string> {
  const found = views.map(({ collection }) =>
    engines.readStore.find(collection, {
      where: {},
      sort: { field: 'id', direction: 'ascending' },
      limit: 10_000,
    }),
  )
  return JSON.stringify(await Promise.all(found))
}

async function folded(): Promise<string> {
  const events = await Promise.all(
    (await engines.eventStore.readAll(null, 100_000)).map((event) => engines.log.open(event)),
  )
  return JSON.stringify(
    views.map((view) =>
      [...foldView(view, new Map(), events).values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    ),
  )
}

/** Makes read models anew, and waits in the midst of it until it is let go on. */
function held(): Rebuilding & { readonly begun: Promise<void>; goOn(): void } {
  let goOn = () => {}
  let begin = () => {}
  const going = new Promise<void>((resolve) => (goOn = resolve))
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const doWork = folding(engines)
  return {
    begun,
    goOn,
    parts: 2,
    keptMs: 0,
    doWork: async (...asked) => {
      const done = await doWork(...asked)
      begin()
      await going
      return done
    },
  }
}

describe('a view of another version', () => {
  beforeEach(async () => {
    for (const n of [1, 2, 3]) await createTask(n)
    const stream = `terminal-${taskId(1)}`
    const data = { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' } as const
    await engines.log.append(
      stream,
      { revision: -1, hash: '' },
      [TerminalOutputRecorded.of(data, { text: 'words' })],
      cause(),
    )
    const projector = await startProjector(engines)
    await projectedToTheEnd()
    await projector.stop()
  })

  test('is followed even if the answer to putting it in place was lost', async () => {
    await change({ wanted: ['tasks'] })
    const { readStore } = engines
    let lost = 0
    const replaceCatalog: ReadStore['replaceCatalog'] = async (next) => {
      const isReplaced = await readStore.replaceCatalog(next)
      if (next.live['tasks']?.name !== 'tasks_g2' || lost > 0) return isReplaced
      lost += 1
      throw new EngineUnavailable('the read store')
    }
    const projector = await startProjector({ ...engines, readStore: { ...readStore, replaceCatalog } })
    await eventually('it is put in place', isWhole)
    await retitled(1, 'afterwards')
    await eventually(
      'it is folded on',
      async () => (await readStore.get('tasks', taskId(1)))?.['title'] === 'afterwards',
    )
    await projectedToTheEnd()
    await projector.stop()
    expect(lost).toBe(1)
    expect(await stored()).toBe(await folded())
  })

  test('is made beside the live one while that is read and written, and put in its place when it has caught up', async () => {
    const before = await liveNames()
    await change({ wanted: ['tasks', 'logs'] })
    const rebuilding = held()
    const projector = await startProjector(engines, rebuilding)
    await rebuilding.begun
    await retitled(1, 'meanwhile')
    await projectedToTheEnd()
    expect(await liveNames()).toEqual(before)
    expect(await engines.readStore.get('tasks', taskId(1))).toMatchObject({ title: 'meanwhile' })
    expect((await catalog()).building).toMatchObject({ generations: { tasks: { name: 'tasks_g2' } } })
    rebuilding.goOn()
    await eventually('it is put in place', isWhole)
    expect(await liveNames()).toEqual({ ...before, tasks: 'tasks_g2', logs: 'logs_g2' })
    expect(await stored()).toBe(await folded())
    await retitled(1, 'afterwards')
    await projectedToTheEnd()
    expect(await engines.readStore.get('tasks', taskId(1))).toMatchObject({ title: 'afterwards' })
    await eventually(
      'what was replaced is gone',
      async () => !(await engines.readStore.generations()).includes('tasks_g1'),
    )
    await projector.stop()
    expect(await stored()).toBe(await folded())
  })

  test('is told how far it is', async () => {
    await change({ wanted: ['tasks'] })
    const rebuilding = held()
    const projector = await startProjector(engines, rebuilding)
    await rebuilding.begun
    await eventually('it is told', async () => ((await catalog()).building?.events ?? 0) > 0)
    const head = await engines.eventStore.head()
    expect((await catalog()).building).toMatchObject({
      generations: { tasks: { version: tasksView.version } },
      head,
    })
    rebuilding.goOn()
    await eventually('it is put in place', isWhole)
    await projector.stop()
  })

  test('that is older is made anew at the start, and one that is newer is left alone', async () => {
    const { live } = await catalog()
    await change({ live: { ...live, messages: { name: 'messages_g1', version: 0 } } })
    const projector = await startProjector(engines)
    await eventually('it is made', async () => (await liveNames())['messages'] === 'messages_g2')
    await projector.stop()
    expect(await stored()).toBe(await folded())

    await change({ live: { ...live, messages: { name: 'messages_g2', version: 1_000 } } })
    await expect(startProjector(engines)).rejects.toThrow(/newer Flightdeck.*rebuild messages/)
  })

  test('that is stopped half made leaves what there was, and is made from the start the next time', async () => {
    const before = await liveNames()
    await change({ wanted: ['tasks'] })
    const rebuilding = held()
    const projector = await startProjector(engines, rebuilding)
    await rebuilding.begun
    const stopped = projector.stop()
    rebuilding.goOn()
    await stopped
    expect((await catalog()).building === null || (await liveNames())['tasks'] === before['tasks']).toBe(true)
    await retitled(2, 'afterwards')
    const again = await startProjector(engines)
    await eventually(
      'it is made',
      async () => (await isWhole()) && (await liveNames())['tasks'] !== 'tasks_g1',
    )
    await projectedToTheEnd()
    await eventually('nothing half made is left', async () => {
      const live = Object.values(await liveNames())
      return (await engines.readStore.generations()).every((name) => live.includes(name))
    })
    await again.stop()
    expect(await stored()).toBe(await folded())
  })

  test('whose engine fails in the midst of it is made all the same', async () => {
    await change({ wanted: ['tasks'] })
    let calls = 0
    const doWork = folding(engines)
    const projector = await startProjector(engines, {
      parts: 1,
      keptMs: 0,
      doWork: async (...asked) => {
        calls += 1
        if (calls === 1) throw new Error('The thread ended.')
        return doWork(...asked)
      },
    })
    await eventually(
      'it is made',
      async () => (await isWhole()) && (await liveNames())['tasks'] !== 'tasks_g1',
    )
    await projector.stop()
    expect(await stored()).toBe(await folded())
  })

  test('is made on threads in the product: several at once, each a part of the streams', async () => {
    await change({ wanted: views.map(({ collection }) => collection) })
    const projector = await startProjector(engines, { doWork: folding(engines), parts: 3, keptMs: 0 })
    await eventually('it is made', isWhole)
    await projector.stop()
    expect(new Set(Object.values(await liveNames()))).toEqual(
      new Set(views.map(({ collection }) => `${collection}_g2`)),
    )
    expect(await stored()).toBe(await folded())
  })
})

describe('read models of another log', () => {
  const readable = async () => {
    for (const n of [1, 2]) await createTask(n)
    const projector = await startProjector(engines)
    await projectedToTheEnd()
    await projector.stop()
  }

  test.each([
    ['of another log', () => change({ log: { logId: 'another', epoch: 1 } })],
    ['of another epoch of it', () => change({ log: { ...engines.logIdentity, epoch: 2 } })],
    [
      'finding 2: of more than there is of it',
      () => engines.readStore.apply([], { projection: mainProjection, position: '1000' }),
    ],
    ['that were wiped', () => change({ live: {} })],
  ])('%s are refused, and made from this one', async (_, exchange) => {
    await readable()
    await exchange()
    const rebuilding = held()
    const projector = await startProjector(engines, rebuilding)
    await rebuilding.begun
    await expect(engines.documents.get(tasksView, taskId(1))).rejects.toThrow(NotFolded)
    expect(await engines.readStore.checkpoint(mainProjection)).toBeNull()
    await createTask(3)
    rebuilding.goOn()
    await eventually('they are made', isWhole)
    await projectedToTheEnd()
    await projector.stop()
    expect((await catalog()).log).toEqual(engines.logIdentity)
    expect(await engines.readStore.get('tasks', taskId(3))).toBeDefined()
    expect(await stored()).toBe(await folded())
  })
})

test('a log that was exchanged for an older copy under a running projector is noticed', async () => {
  await createTask(1)
  let isOlder = false
  const projector = await startProjector({
    ...engines,
    eventStore: { ...engines.eventStore, head: async () => (isOlder ? '1' : engines.eventStore.head()) },
  })
  await projectedToTheEnd()
  isOlder = true
  await eventually('it is made anew', async () => (await catalog()).last > 1)
  await projector.stop()
  expect((await catalog()).log).toEqual(engines.logIdentity)
})

test('views stay live where the engine has searched beyond the last event, among those of others', async () => {
  await createTask(1)
  const { eventStore } = engines
  const shared: TestEngines = {
    ...engines,
    eventStore: {
      ...eventStore,
      subscribe: (after, batch, handle, ...more) =>
        eventStore.subscribe(
          after,
          batch,
          async (events, upTo) => {
            await handle(events, upTo)
            await handle([], '1000')
          },
          ...more,
        ),
    },
  }
  for (let start = 1; start <= 2; start += 1) {
    const projector = await startProjector(shared)
    await projectedToTheEnd()
    await createTask(start + 1)
    await projectedToTheEnd()
    await projector.stop()
    expect((await catalog()).last).toBe(1)
  }
  expect(await stored()).toBe(await folded())
})

describe('finding 10: whoever is signed in', () => {
  const identity = { userId: userId(1), sessionId: sessionId(1) }
  const asks = () => identified({ identity }, engines)
  const register = () =>
    engines.log.append(
      userStream(userId(1)),
      { revision: -1, hash: '' },
      [UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: 'ada@example.com' })],
      cause(),
    )

  test('is not sent to sign in while the views are behind, or are being made', async () => {
    await expect(asks()).rejects.toMatchObject({ code: 'sign_in_required' })
    await register()
    await expect(asks()).rejects.toMatchObject({ code: 'views_behind', details: { retryAfterSeconds: 2 } })
    await change({ live: {} })
    await expect(asks()).rejects.toThrow(NotFolded)
    const projector = await startProjector(engines)
    await eventually('it is made', isWhole)
    await pause(0)
    expect((await asks()).user.name).toBe('Ada')
    await projector.stop()
  })
})

test('a short log is folded by the process itself, and a longer one by threads', async () => {
  // A thread that tried would find no key there.
  const shared = { eventStore: null, mongo: null, nats: null }
  const config = { dataDir: '/nowhere', engines: shared, masterKey: undefined, logLevel: 'silent' }
  const projector = await startProjector(engines, onThreads(config, engines))
  await createTask(1)
  await eventually('the read models are there', isWhole)
  await projectedToTheEnd()
  expect(await stored()).toBe(await folded())
  await projector.stop()

  const stream = taskStream(taskId(1))
  const titles = Array.from({ length: 500 }, (_, n) =>
    TaskUpdated.of({}, { title: `Title ${n}`, description: '' }),
  )
  await engines.log.append(stream, await engines.log.headOf(stream), titles, cause())
  const fold = { kind: 'fold', part: { names: {}, index: 0, of: 1 } } as const
  const { signal } = new AbortController()
  await expect(onThreads(config, engines).doWork(fold, () => undefined, signal)).rejects.toThrow(/nowhere/)
})
