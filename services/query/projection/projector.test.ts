/** The projector: whatever is cut short, repeated or thrown away, the documents are the fold of the log. */
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as pause } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainEvent } from '#domain/events.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { ModelChosen, TaskUpdated } from '#domain/task/events.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { task } from '#domain/task/task.ts'
import { views } from '#domain/views/registry.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { changeCatalog, type Change, type ReadStore } from '#platform/ports/readStore.ts'
import { mainProjection } from '#platform/reads/projectionWait.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { emptyHead, eventLog, UnreadableEvent, type Head } from '#platform/eventlog/eventLog.ts'
import { commands } from '#platform/commands/execute.ts'
import { listQuarantined, releaseQuarantined } from '#platform/eventlog/quarantine.ts'
import { intact, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import { EngineUnavailable, TooLarge } from '#platform/ports/faults.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { executionId, messageId, projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { logs } from '../../../tests/domain/logs.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { startProjector } from './projector.ts'
import { releaseSkipped, skippedPut } from './skippedEvents.ts'
import { randomRuns } from '../../../tests/longRun.ts'
import { foldView } from '../../../tests/domain/fold.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

/** Appends the events in their order, each to its stream. */
async function append({ log }: TestEngines, events: readonly AnyRecorded[]): Promise<void> {
  const heads = new Map<string, Head>()
  for (const { stream, type, data, content } of events) {
    // What was recorded is an event again when its place is left out.
    const event = { type, data, content } as DomainEvent
    const appended = await log.append(stream, heads.get(stream) ?? emptyHead, [event], cause())
    if (appended.kind === 'appended') heads.set(stream, appended.head)
  }
}

async function projectedToTheEnd({ eventStore, readStore }: TestEngines): Promise<void> {
  const head = await eventStore.head()
  if (head === null) return
  await eventually(
    'everything is projected',
    async () => (await readStore.checkpoint(mainProjection)) === head,
    20_000,
  )
}

/** All documents as they are stored, collection by collection. */
async function stored({ readStore }: TestEngines): Promise<Record<string, unknown>> {
  const found = views.map(async ({ collection }) => {
    const sort = { field: 'id', direction: 'ascending' } as const
    return [collection, await readStore.find(collection, { where: {}, sort, limit: 10_000 })] as const
  })
  return Object.fromEntries(await Promise.all(found))
}

/** What the views make of the whole log, in memory. */
async function folded({ eventStore, log }: TestEngines): Promise<Record<string, unknown>> {
  const events = await Promise.all((await eventStore.readAll(null, 100_000)).map(log.open))
  return Object.fromEntries(
    views.map((view) => {
      const documents = [...foldView(view, new Map(), events).values()]
      return [view.collection, documents.sort((a, b) => (a.id < b.id ? -1 : 1))]
    }),
  )
}

/** Runs `use` on engines of its own, so that a property meets none of its other runs. */
async function withEngines(use: (engines: TestEngines) => Promise<void>): Promise<void> {
  const own = await openTestEngines()
  try {
    await use(own)
  } finally {
    await own.close()
  }
}

/** The same engines for a projector that is given a few events at a time and hesitates so long, in ms, before each thing that it asks. */
function hesitating(own: TestEngines, paces: readonly number[], few: number): TestEngines {
  let asked = 0
  const hesitate = () => pause(paces[(asked += 1) % paces.length])
  const { eventStore, readStore } = own
  return {
    ...own,
    eventStore: { ...eventStore, subscribe: (after, _, handle) => eventStore.subscribe(after, few, handle) },
    readStore: {
      ...readStore,
      async getMany(...wanted) {
        const found = await readStore.getMany(...wanted)
        await hesitate()
        return found
      },
      async apply(...batch) {
        await hesitate()
        await readStore.apply(...batch)
      },
    },
  }
}

describe('any log', () => {
  test('has the documents of a task written before the task, whose version says what is in them', async () => {
    await fc.assert(
      fc.asyncProperty(logs, (events) =>
        withEngines(async (own) => {
          const writes: (readonly string[])[] = []
          const apply: ReadStore['apply'] = async (changes, checkpoint) => {
            writes.push(changes.map(({ collection }) => collection))
            await own.readStore.apply(changes, checkpoint)
          }
          await append(own, events)
          const projector = await startProjector({ ...own, readStore: { ...own.readStore, apply } })
          await projectedToTheEnd(own)
          await projector.stop()
          const { live } = await own.readStore.catalog()
          const tasks = live[tasksView.collection]?.name ?? ''
          for (const collections of writes)
            expect(collections.lastIndexOf(tasks)).toBeOneOf([-1, collections.length - 1])
          expect(writes.flat()).toContain(tasks)
        }),
      ),
      { numRuns: randomRuns(5) },
    )
  })

  test('is projected to what its views fold, and rebuilt from nothing to the same documents, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(logs, (events) =>
        withEngines(async (own) => {
          await append(own, events)
          const projector = await startProjector(own)
          await projectedToTheEnd(own)
          await projector.stop()
          const first = await stored(own)
          expect(first).toEqual(await folded(own))

          await changeCatalog(own.readStore, (catalog) => ({ ...catalog, live: {} }))
          const again = await startProjector(own)
          await projectedToTheEnd(own)
          await again.stop()
          expect(JSON.stringify(await stored(own))).toBe(JSON.stringify(first))
        }),
      ),
      { numRuns: randomRuns(12) },
    )
  })

  test('gives the same when the projector stops and starts anywhere while it grows', async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }), (events, cuts) =>
        withEngines(async (own) => {
          const appending = append(own, events)
          for (const cut of cuts) {
            const projector = await startProjector(own)
            await new Promise((resolve) => {
              setTimeout(resolve, cut)
            })
            await projector.stop()
          }
          await appending
          const last = await startProjector(own)
          await projectedToTheEnd(own)
          await last.stop()
          expect(await stored(own)).toEqual(await folded(own))
        }),
      ),
      { numRuns: randomRuns(8) },
    )
  })

  test('gives the same when a batch is applied, its answer lost, and the batch given again', async () => {
    await fc.assert(
      fc.asyncProperty(logs, (events) =>
        withEngines(async (own) => {
          await append(own, events)
          let applied = 0
          const forgetful: ReadStore = {
            ...own.readStore,
            async apply(...batch) {
              await own.readStore.apply(...batch)
              applied += 1
              if (applied % 2 === 1) throw new Error('the answer is lost')
            },
          }
          const projector = await startProjector({ ...own, readStore: forgetful })
          await projectedToTheEnd(own)
          await eventually('the batch was given again', () => events.length === 0 || applied >= 2)
          await projector.stop()
          expect(await stored(own)).toEqual(await folded(own))
        }),
      ),
      { numRuns: randomRuns(5) },
    )
  })

  test('gives the same when two project at once, each at its own pace and overtaken by the other', async () => {
    const pace = fc.array(fc.nat(3), { minLength: 1, maxLength: 20 })
    const smallBatch = fc.integer({ min: 1, max: 5 })
    await fc.assert(
      fc.asyncProperty(logs, pace, pace, smallBatch, smallBatch, (events, one, other, few, fewer) =>
        withEngines(async (own) => {
          const projectors = await Promise.all([
            startProjector(hesitating(own, one, few)),
            startProjector(hesitating(own, other, fewer)),
          ])
          await append(own, events)
          await projectedToTheEnd(own)
          await Promise.all(projectors.map((projector) => projector.stop()))
          expect(await stored(own)).toEqual(await folded(own))
        }),
      ),
      { numRuns: randomRuns(12) },
    )
  })

  test('is what a read model keeps of it when one projector stands still for long before it writes', async () => {
    await fc.assert(
      fc.asyncProperty(logs, (events) =>
        withEngines(async (own) => {
          let goOn = () => {}
          const thawed = new Promise<void>((resolve) => (goOn = resolve))
          // It has read what there was, and writes when all is over.
          const frozen: ReadStore = {
            ...own.readStore,
            async apply(...batch) {
              await thawed
              await own.readStore.apply(...batch)
            },
          }
          const [first] = [await startProjector({ ...own, readStore: frozen })]
          await append(own, events)
          const second = await startProjector(own)
          await projectedToTheEnd(own)
          goOn()
          await Promise.all([first.stop(), second.stop()])
          expect(await stored(own)).toEqual(await folded(own))
        }),
      ),
      { numRuns: randomRuns(8) },
    )
  })

  test('gives the same when the checkpoint was lost and all is applied on top of itself', async () => {
    await fc.assert(
      fc.asyncProperty(logs, (events) =>
        withEngines(async (own) => {
          await append(own, events)
          const projector = await startProjector(own)
          await projectedToTheEnd(own)
          await projector.stop()
          const once = await stored(own)
          const forgotten: ReadStore = { ...own.readStore, checkpoint: async () => null }
          const positions: string[] = []
          own.bus.subscribe('projected', ({ position }) => positions.push(position))
          const again = await startProjector({ ...own, readStore: forgotten })
          const head = await own.eventStore.head()
          await eventually('it has gone over all again', () => head === null || positions.includes(head))
          await again.stop()
          expect(await stored(own)).toEqual(once)
        }),
      ),
      { numRuns: randomRuns(8) },
    )
  })
})

const create = creating()
const createTask = () => engines.commands.execute(task, taskStream(taskId(1)), create, cause())

test('it says how far it is, at once and again each second, so that a lost word is only late', async () => {
  const said: string[] = []
  engines.bus.subscribe('projected', ({ position }) => said.push(position))
  const projector = await startProjector(engines)
  const { position } = await createTask()
  await eventually('it said so', () => said.includes(position ?? ''), 500)
  const before = said.length
  await eventually('it said so again', () => said.length > before)
  expect(new Set(said.slice(before))).toEqual(new Set([position]))
  await projector.stop()
})

test('output is not projected, and moves the checkpoint all the same', async () => {
  const stream = `terminal-${taskId(1)}`
  const data = { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' } as const
  await engines.log.append(stream, emptyHead, [TerminalOutputRecorded.of(data, { text: 'words' })], cause())
  const projector = await startProjector(engines)
  await projectedToTheEnd(engines)
  await projector.stop()
  expect(Object.values(await stored(engines)).flat()).toEqual([])
})

test('a task whose key was destroyed is projected with its facts', async () => {
  await createTask()
  await engines.vault.destroy(`task:${taskId(1)}`)
  const projector = await startProjector(engines)
  await projectedToTheEnd(engines)
  await projector.stop()
  const [document] = await engines.readStore.find('tasks', {
    where: { owner: userId(1) },
    sort: { field: 'order', direction: 'ascending' },
    limit: 1,
  })
  expect(document).toMatchObject({ title: '', status: 'queued', projectId: projectId(1) })
})

test('thousands of events in one stream are projected in order', async () => {
  const { head } = await createTask()
  const many = Array.from({ length: 2_000 }, (_, n) =>
    TaskUpdated.of({}, { title: `t${n}`, description: '' }),
  )
  await engines.log.append(taskStream(taskId(1)), head, many, cause())
  const projector = await startProjector(engines)
  await projectedToTheEnd(engines)
  await projector.stop()
  expect(await engines.readStore.get('tasks', taskId(1))).toMatchObject({ title: 't1999', version: 2_002 })
})

describe('a document that the read store does not take', () => {
  const otherTask = { ...create, taskId: taskId(2), messageId: messageId(2), executionId: executionId(2) }
  const createOther = () => engines.commands.execute(task, taskStream(otherTask.taskId), otherTask, cause())
  const retitled = async (id: string, title: string) => {
    const stream = taskStream(id)
    const head = await engines.log.headOf(stream)
    await engines.log.append(stream, head, [TaskUpdated.of({}, { title, description: '' })], cause())
  }
  /** A read store that refuses a batch with a title of this length or more in it, as a whole and before it writes. */
  function bounded(titleLength: number): ReadStore {
    return {
      ...engines.readStore,
      async apply(changes, checkpoint) {
        if (changes.some((change) => titleOf(change).length >= titleLength))
          throw new TooLarge('The document is over what is taken.')
        await engines.readStore.apply(changes, checkpoint)
      },
    }
  }
  function titleOf(change: Change): string {
    const title =
      change.kind === 'put' && change.collection.startsWith('tasks_') ? change.document['title'] : ''
    return String(title ?? '')
  }

  test('stays as it was, and holds up none of the others', async () => {
    await createTask()
    await createOther()
    await retitled(otherTask.taskId, 'before')
    const projector = await startProjector({ ...engines, readStore: bounded(1_000) })
    await projectedToTheEnd(engines)
    await retitled(taskId(1), 'x'.repeat(1_000))
    await retitled(otherTask.taskId, 'after')
    await projectedToTheEnd(engines)
    expect(await engines.readStore.get('tasks', taskId(1))).toMatchObject({ title: 'A title' })
    expect(await engines.readStore.get('tasks', otherTask.taskId)).toMatchObject({ title: 'after' })
    await projector.stop()
  })

  test('holds up none of the others of its own batch, and its place in the log is passed', async () => {
    await createTask()
    await retitled(taskId(1), 'x'.repeat(1_000))
    await createOther()
    const projector = await startProjector({ ...engines, readStore: bounded(1_000) })
    await projectedToTheEnd(engines)
    await projector.stop()
    expect(await engines.readStore.get('tasks', taskId(1))).toBeUndefined()
    expect(await engines.readStore.get('tasks', otherTask.taskId)).toMatchObject({ title: 'A title' })
    // The other documents of the task are there: what its chat says, and the task among those of its project.
    const { tasks: _, ...others } = await stored(engines)
    const { tasks: __, ...expected } = await folded(engines)
    expect(others).toEqual(expected)
  })

  test('is told in the log of the process, by its fault', async () => {
    const told: unknown[] = []
    const logger = { ...engines.logger, error: (...what: unknown[]) => void told.push(what) }
    await createTask()
    await retitled(taskId(1), 'x'.repeat(1_000))
    const projector = await startProjector({ ...engines, logger, readStore: bounded(1_000) })
    await projectedToTheEnd(engines)
    await projector.stop()
    expect(told).toEqual([[{ err: expect.any(TooLarge) }, expect.stringContaining('too large')]])
  })

  test('finding 8: what comes later is not folded onto what was left behind, also by a projector that starts then', async () => {
    const { branch } = create
    await createTask()
    let projector = await startProjector({ ...engines, readStore: bounded(1_000) })
    await projectedToTheEnd(engines)
    const stream = taskStream(taskId(1))
    const append = async (...events: readonly DomainEvent[]) =>
      engines.log.append(stream, await engines.log.headOf(stream), events, cause())
    await append(
      ModelChosen.of({ agent: 'cursor' }, { model: 'a model' }),
      TaskUpdated.of({}, { title: 'x'.repeat(1_000), description: 'meanwhile' }),
    )
    await projectedToTheEnd(engines)
    await projector.stop()
    expect(await engines.readStore.get('tasks', taskId(1))).toMatchObject({ title: 'A title' })

    projector = await startProjector({ ...engines, readStore: bounded(1_000) })
    await append(ModelChosen.of({ agent: 'claude' }, { model: 'another' }))
    await projectedToTheEnd(engines)
    expect(await engines.readStore.get('tasks', taskId(1))).toMatchObject({ title: 'A title', version: 2 })
    await append(TaskUpdated.of({}, { title: 'short', description: 'again' }))
    await projectedToTheEnd(engines)
    expect(await engines.readStore.get('tasks', taskId(1))).toMatchObject({
      title: 'short',
      branch,
      codexModel: 'another',
      modelAgent: 'claude',
      version: 6,
    })
    await append(ModelChosen.of({ agent: 'cursor' }, { model: 'last' }))
    await projectedToTheEnd(engines)
    await projector.stop()
    expect(await stored(engines)).toEqual(await folded(engines))
  })

  test('is written again with the first event after which it fits', async () => {
    await createTask()
    const projector = await startProjector({ ...engines, readStore: bounded(1_000) })
    await projectedToTheEnd(engines)
    await retitled(taskId(1), 'x'.repeat(1_000))
    await projectedToTheEnd(engines)
    await retitled(taskId(1), 'short again')
    await projectedToTheEnd(engines)
    await projector.stop()
    expect(await engines.readStore.get('tasks', taskId(1))).toMatchObject({ title: 'short again' })
  })

  test('does not move the checkpoint over what was not written when the engine goes away in the midst of it', async () => {
    await createTask()
    await retitled(taskId(1), 'x'.repeat(1_000))
    await createOther()
    const checkpoints: (string | null)[] = []
    const store = bounded(1_000)
    const failing: ReadStore = {
      ...store,
      async apply(changes, checkpoint) {
        const isOther =
          changes.length === 1 && changes[0]?.kind === 'put' && changes[0].document.id === otherTask.taskId
        if (checkpoints.length === 0 && isOther) {
          checkpoints.push(await engines.readStore.checkpoint(mainProjection))
          throw new EngineUnavailable('the read store')
        }
        await store.apply(changes, checkpoint)
      },
    }
    const projector = await startProjector({ ...engines, readStore: failing })
    await projectedToTheEnd(engines)
    await projector.stop()
    expect(checkpoints).toHaveLength(1)
    expect(checkpoints).not.toContain(await engines.eventStore.head())
    expect(await engines.readStore.get('tasks', otherTask.taskId)).toMatchObject({ title: 'A title' })
  })
})

describe('an event that cannot be read', () => {
  const damages: readonly (readonly [string, (event: StoredEvent) => StoredEvent])[] = [
    ['cannot_be_opened', (event) => ({ ...event, content: Buffer.from('damaged').toString('base64') })],
    ['wrong_shape', (event) => ({ ...event, data: 'damaged' })],
    ['broken_chain', (event) => ({ ...event, meta: { ...event.meta, prev: 'f'.repeat(64) } })],
  ]

  /** The same engines, with some events damaged on their way out of the store. */
  function damaging(damage: (event: StoredEvent) => StoredEvent): TestEngines {
    const { eventStore } = engines
    const damaged: EventStore = {
      ...eventStore,
      readAll: async (...asked) => intact(await eventStore.readAll(...asked)).map(damage),
      readStream: async (...asked) => intact(await eventStore.readStream(...asked)).map(damage),
      subscribe: (after, batch, handle, ...more) =>
        eventStore.subscribe(
          after,
          batch,
          (events, upTo) => handle(intact(events).map(damage), upTo),
          ...more,
        ),
    }
    return { ...engines, eventStore: damaged, log: eventLog({ ...engines, eventStore: damaged }) }
  }

  async function history(tasks: number, events: number): Promise<void> {
    for (let n = 1; n <= tasks; n += 1) {
      const made = await engines.commands.execute(task, taskStream(taskId(n)), creating(n), cause())
      const more = Array.from({ length: events }, (_, at) =>
        TaskUpdated.of({}, { title: `t${at}`, description: '' }),
      )
      await engines.log.append(taskStream(taskId(n)), made.head, more, cause())
    }
  }

  test('hurts its own stream only: with every 1,000th damaged, all other tasks are as they should be', async () => {
    await history(24, 300)
    const whole = await folded(engines)
    const all = intact(await engines.eventStore.readAll(null, 100_000))
    const damagedAt = new Map(
      all
        .filter((_, at) => at % 1_000 === 999)
        .map((event, at) => [event.id, damages[at % damages.length]] as const),
    )
    expect(damagedAt.size).toBeGreaterThanOrEqual(6)
    const broken = damaging((event) => damagedAt.get(event.id)?.[1](event) ?? event)
    const projector = await startProjector(broken)
    await projectedToTheEnd(engines)
    await projector.stop()
    const hurt = new Map(
      all.flatMap((event) => {
        const reason = damagedAt.get(event.id)?.[0]
        return reason === undefined ? [] : [[event.stream, { revision: event.revision, reason }] as const]
      }),
    )
    const tasksNow = Object(await stored(engines)).tasks
    const tasksThen = new Map(Object(whole).tasks.map((document: { id: string }) => [document.id, document]))
    expect(tasksNow).toHaveLength(24)
    for (const document of tasksNow) {
      const unreadable = hurt.get(taskStream(document.id))
      expect(document).toMatchObject(
        unreadable ? { unreadable, version: unreadable.revision - 1 } : Object(tasksThen.get(document.id)),
      )
      expect('unreadable' in document).toBe(unreadable !== undefined)
    }
    expect(await listQuarantined(engines.readStore)).toHaveLength(hurt.size)
    // Commands go on, but for those of what cannot be read.
    const others = commands(broken.log)
    const rename = { type: 'UpdateTask', title: 'after' } as const
    const outcomes = [1, 2, 3, 24].map(async (n) => {
      const renamed = others.execute(task, taskStream(taskId(n)), rename, cause())
      const outcome = await renamed.then(
        ({ events }) => events.length,
        (fault: unknown) => fault,
      )
      return hurt.has(taskStream(taskId(n))) ? outcome instanceof UnreadableEvent : outcome === 1
    })
    expect(await Promise.all(outcomes)).toEqual([true, true, true, true])
  })

  test('is what is left of a stream whose beginning was removed: it is set aside, and says why', async () => {
    await history(3, 5)
    const stream = taskStream(taskId(1))
    const isLeft = (event: LogRecord) => event.stream !== stream || event.revision >= 4
    const { eventStore } = engines
    const scavenged: EventStore = {
      ...eventStore,
      readAll: async (...asked) => (await eventStore.readAll(...asked)).filter(isLeft),
      readStream: async (name, { from, direction, limit }) =>
        (await eventStore.readStream(name, { from, direction, limit: 1_000 })).filter(isLeft).slice(0, limit),
      subscribe: (after, batch, handle, ...more) =>
        eventStore.subscribe(after, batch, (events, upTo) => handle(events.filter(isLeft), upTo), ...more),
    }
    const log = eventLog({ ...engines, eventStore: scavenged })
    const cut = { ...engines, eventStore: scavenged, log }
    const projector = await startProjector(cut)
    await projectedToTheEnd(engines)
    await projector.stop()
    expect(await listQuarantined(engines.readStore)).toEqual([
      `${stream}  event 4 (TaskUpdated) is the first that is left: those before it were removed from the log`,
    ])
    expect(await engines.readStore.get('tasks', taskId(2))).toMatchObject({ title: 't4' })
    const rename = { type: 'UpdateTask', title: 'after' } as const
    await expect(commands(log).execute(task, stream, rename, cause())).rejects.toMatchObject({
      reason: 'truncated',
    })
    expect(await releaseQuarantined(engines.readStore, { ...engines, log }, stream)).toMatchObject({
      ok: false,
    })
  })

  test('is taken up again once it was mended, and not before', async () => {
    await history(2, 5)
    let isMended = false
    const stream = taskStream(taskId(1))
    const broken = damaging((event) =>
      event.stream === stream && event.revision === 6 && !isMended ? { ...event, content: 'AAAA' } : event,
    )
    const projector = await startProjector(broken)
    await projectedToTheEnd(engines)
    const [line] = await listQuarantined(engines.readStore)
    expect(line).toMatch(/^task-\S+ {2}event 6 \(TaskUpdated\) has content that does not open/)
    expect(await releaseQuarantined(engines.readStore, broken, stream)).toMatchObject({ ok: false })
    isMended = true
    expect(await releaseQuarantined(engines.readStore, broken, stream)).toMatchObject({ ok: true })
    await eventually('it is folded anew', async () =>
      isDeepStrictEqual(await stored(engines), await folded(engines)),
    )
    expect(await listQuarantined(engines.readStore)).toEqual(['No stream is set aside.'])
    // It may be hurt again, and is set aside again.
    await projector.stop()
    const rename = { type: 'UpdateTask', title: 'once more' } as const
    const { events } = await commands(engines.log).execute(task, stream, rename, cause())
    const last = events.at(-1)?.revision
    const hurtAgain = damaging((event) =>
      event.stream === stream && event.revision === last ? { ...event, content: 'AAAA' } : event,
    )
    const second = await startProjector(hurtAgain)
    await projectedToTheEnd(engines)
    await second.stop()
    expect(await listQuarantined(engines.readStore)).toEqual([
      expect.stringContaining(`event ${last} (TaskUpdated)`),
    ])
  })

  test('is looked for anew in a log that was put back from a backup: what was wrong in the other one is forgotten', async () => {
    await history(2, 5)
    const stream = taskStream(taskId(1))
    const broken = damaging((event) => (event.stream === stream ? { ...event, content: 'AAAA' } : event))
    const before = await startProjector(broken)
    await projectedToTheEnd(engines)
    await before.stop()
    expect(await listQuarantined(engines.readStore)).toEqual([expect.stringContaining(stream)])
    const { logIdentity } = engines
    const after = await startProjector({
      ...engines,
      logIdentity: { ...logIdentity, epoch: logIdentity.epoch + 1 },
    })
    // Until they are made anew they are refused.
    await eventually('it is folded anew', async () =>
      isDeepStrictEqual(await stored(engines).catch(() => undefined), await folded(engines)),
    )
    expect(await listQuarantined(engines.readStore)).toEqual(['No stream is set aside.'])
    await after.stop()
  })

  test('of a newer version is passed over, and what this one knows goes on', async () => {
    await history(1, 3)
    const written = new Map<string, StoredEvent>()
    let prev = ''
    for (const event of intact(await engines.eventStore.readAll(null, 1_000, { streams: ['task-'] }))) {
      const newer =
        event.revision === 4 ? { type: 'TaskPainted' } : event.revision === 5 ? { version: 9 } : {}
      const linked = { ...event, ...newer, meta: { ...event.meta, prev } }
      prev = digestsOf(linked).hash
      written.set(event.id, { ...linked, meta: { ...linked.meta, hash: prev } })
    }
    const newer = damaging((event) => written.get(event.id) ?? event)
    const projector = await startProjector(newer)
    await projectedToTheEnd(engines)
    await projector.stop()
    const [document] = Object(await stored(engines)).tasks
    expect(document).not.toHaveProperty('unreadable')
    expect(document).toMatchObject({ title: 't0' })
    expect(await listQuarantined(engines.readStore)).toEqual(['No stream is set aside.'])
  })

  test('of a newer version is folded by the next version, which knows it', async () => {
    await history(1, 3)
    const { log } = engines
    const open: typeof log.open = async (record) => {
      if (record.revision === 5) throw new UnreadableEvent(record, 'newer_version')
      return log.open(record)
    }
    const older = await startProjector({ ...engines, log: { ...log, open } })
    await projectedToTheEnd(engines)
    await older.stop()
    expect(Object(await stored(engines)).tasks).toMatchObject([{ title: 't1' }])
    const next = await startProjector(engines)
    await eventually('everything is folded anew', async () =>
      isDeepStrictEqual(await stored(engines), await folded(engines)),
    )
    expect((await engines.readStore.catalog()).wanted).toEqual([])
    await next.stop()
  })

  test('of a newer version has the read models rebuilt once, by the first version that knows it', async () => {
    const { readStore } = engines
    const store = {
      put: async (type: string, version: number) => readStore.apply([skippedPut({ type, version })], null),
      wanted: async () => (await readStore.catalog()).wanted.length,
    }
    await releaseSkipped(readStore)
    await store.put('TaskPainted', 1)
    await store.put(TaskUpdated.type, TaskUpdated.version + 1)
    await releaseSkipped(readStore)
    expect(await store.wanted()).toBe(0)
    await store.put(TaskUpdated.type, TaskUpdated.version)
    await releaseSkipped(readStore)
    expect(await store.wanted()).toBe(views.length)
    await changeCatalog(readStore, (catalog) => ({ ...catalog, wanted: [] }))
    await releaseSkipped(readStore)
    expect(await store.wanted()).toBe(0)
  })
})
