/**
 * Read models of a long log are rebuilt while commands go on: the result is the same byte for byte, no read fails meanwhile, and it is as fast as
 * reading the log twice. Also kill -9 in the middle of it.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainEvent } from '#domain/events.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { TaskUpdated, ToolFinished, ToolStarted, UsageRecorded } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { views } from '#domain/views/registry.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { documents } from '#platform/reads/documents.ts'
import { emptyHead, type Head } from '#platform/eventlog/eventLog.ts'
import { commands } from '#platform/commands/execute.ts'
import { mainProjection } from '#platform/reads/projectionWait.ts'
import { openStores, type OwnStores } from '#platform/compose.ts'
import { logger } from '#platform/log.ts'
import { changeCatalog } from '#platform/ports/readStore.ts'
import type { Position } from '#domain/kernel/event.ts'
import { noTelemetry } from '#platform/telemetry/telemetry.ts'
import { openFold, placed } from '../../../services/query/projection/fold.ts'
import { startProjector } from '../../../services/query/projection/projector.ts'
import { onThreads } from '../../../services/query/projection/rebuildThread.ts'
import { creating } from '../../domain/creating.ts'
import { executionId, messageId, taskId } from '../../domain/ids.ts'
import { ownFolder } from '../../product.ts'
import { note } from '../../report/notes.ts'
import { cause, eventually, testLog } from '../../server/engines.ts'
import { type LogRecord } from '#platform/ports/eventStore.ts'

const mostEvents = Number(process.env['REBUILD_EVENTS'] ?? 1_000_000)
/** Of a task: its creation has three events, then come tool calls, and output that no view folds. */
const perTask = 500
const shareOfTerminal = 0.71

let folder: string
let stores: OwnStores
const silent = logger('warn')
beforeEach(async () => {
  folder = await ownFolder()
  await mkdir(join(folder, 'blobs'), { recursive: true })
  stores = await openStores(config(), silent)
})
afterEach(async () => {
  await stores.close()
  await rm(folder, { recursive: true, force: true })
})

const config = () => ({
  dataDir: folder,
  engines: { eventStore: null, mongo: null, nats: null },
  masterKey: undefined,
  logLevel: 'warn',
})

/** Appends a task with all that it did. */
async function appendTask(n: number): Promise<number> {
  const { log } = stores
  const created = await commands(log).execute(
    task,
    taskStream(taskId(n)),
    { ...creating(), taskId: taskId(n), messageId: messageId(n), executionId: executionId(n) },
    cause(),
  )
  const calls = Math.floor((perTask * (1 - shareOfTerminal) - created.events.length) / 2)
  const did: DomainEvent[] = Array.from({ length: calls }, (_, index) => callOf(n, index)).flat()
  await log.append(taskStream(taskId(n)), created.head, did, cause())
  let head: Head = emptyHead
  let printed = 0
  const size = perTask - created.events.length - did.length
  const data = { executionId: executionId(n), attempt: 1, kind: 'turn', channel: 'stdout' } as const
  while (printed < size) {
    const count = Math.min(100, size - printed)
    const text = 'a line of what a test prints, of some length\n'.repeat(5)
    const lines = Array.from({ length: count }, () => TerminalOutputRecorded.of(data, { text }))
    const appended = await log.append(terminalStream(taskId(n)), head, lines, cause())
    if (appended.kind === 'appended') ({ head } = appended)
    printed += count
  }
  return size + created.events.length + did.length
}

function callOf(n: number, index: number): readonly DomainEvent[] {
  const toolId = `tool-${index}`
  const of = { executionId: executionId(n), toolId }
  if (index % 10 === 9) {
    const used = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 }
    return [
      UsageRecorded.of({ executionId: executionId(n), ...used, costUsd: 0.01, model: 'a model' }),
      TaskUpdated.of({}, { title: `Title ${index}`, description: 'What it is about' }),
    ]
  }
  return [
    ToolStarted.of(
      { ...of, kind: 'run', parentToolId: null },
      { name: 'Bash', target: 'npm test', input: JSON.stringify({ command: 'npm test' }) },
    ),
    ToolFinished.of(
      { ...of, ok: true, durationMs: 1_200, exitCode: 0, additions: null, deletions: null },
      { summary: '12 passed', output: 'ok '.repeat(100) },
    ),
  ]
}

interface Told {
  readonly events: number
  readonly wanted: number
}

/** Appends whole tasks, some at a time, until there are so many events. */
async function appendLog(events: number): Promise<Told> {
  const tasks = Math.ceil(events / perTask)
  let next = 0
  let appended = 0
  const append = async () => {
    while (next < tasks) {
      const count = await appendTask((next += 1))
      appended += count
    }
  }
  await Promise.all(Array.from({ length: 8 }, append))
  return { events: appended, wanted: Math.round(appended * (1 - shareOfTerminal)) }
}

function openProjector(keptMs: number) {
  const { eventStore, readStore, log } = stores
  const bus = openInProcessBus({ onFault: () => undefined })
  const clock = { now: () => new Date() }
  const engines = {
    eventStore,
    readStore,
    log,
    bus,
    clock,
    logIdentity: testLog,
    logger: silent,
    emit: noTelemetry,
  }
  return startProjector(engines, { ...onThreads(config(), engines), keptMs })
}

async function isProjected(): Promise<boolean> {
  const { eventStore, readStore } = stores
  return (await readStore.checkpoint(mainProjection)) === (await eventStore.head())
}

/** All that is stored of a collection, in the order of ids. */
async function* documentsOf(collection: string): AsyncGenerator<string> {
  const limit = 2_000
  for (let last: string | undefined; ;) {
    const found = await stores.readStore.find(collection, {
      where: {},
      sort: { field: 'id', direction: 'ascending' },
      limit,
      ...(last === undefined ? {} : { after: { value: last, id: last } }),
    })
    yield* found.map((document) => JSON.stringify(document))
    last = found.at(-1)?.id
    if (found.length < limit) return
  }
}

async function textOf(collection: string): Promise<{ count: number; hash: string }> {
  const hash = createHash('sha256')
  let count = 0
  for await (const document of documentsOf(collection)) {
    hash.update(document).update('\n')
    count += 1
  }
  return { count, hash: hash.digest('hex') }
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1_000
}

async function readWhole(): Promise<void> {
  for (let after: Position | null = null; ;) {
    const events: readonly LogRecord[] = await stores.eventStore.readAll(after, 5_000)
    if (events.length === 0) return
    after = events.at(-1)?.position ?? after
    await new Promise(setImmediate)
  }
}

const tick = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

test('a million events are folded anew while commands go on: no read fails, and the documents are the same, byte for byte', async () => {
  let projector = await openProjector(0)
  const { events, wanted } = await appendLog(mostEvents)
  await eventually('all is projected', isProjected, 900_000)
  await projector.stop()
  const { readStore, eventStore, log } = stores
  const first = (await readStore.catalog()).live
  const bare = await secondsOf(readWhole)

  projector = await openProjector(3_600_000)
  const begunAt = await readStore.checkpoint(mainProjection)
  const tasks = Math.ceil(events / perTask)
  const execution = commands(log)
  const docs = documents(readStore, log)
  const over = new AbortController()
  const counts = { commands: 0, reads: 0, slowestMs: 0 }
  const commanding = (async () => {
    for (let n = 1; !over.signal.aborted; n = (n % tasks) + 1) {
      const title = `meanwhile ${counts.commands}`
      await execution.execute(task, taskStream(taskId(n)), { type: 'UpdateTask', title }, cause())
      counts.commands += 1
      await tick(20)
    }
  })()
  const reading = (async () => {
    for (let n = 1; !over.signal.aborted; n = (n % tasks) + 1) {
      const begun = performance.now()
      expect((await docs.get(tasksView, taskId(n)))?.id).toBe(taskId(n))
      counts.reads += 1
      counts.slowestMs = Math.max(counts.slowestMs, performance.now() - begun)
      await tick(2)
    }
  })()
  const names = views.map(({ collection }) => collection)
  await changeCatalog(readStore, (catalog) => ({ ...catalog, wanted: names }))
  await eventually('it is begun', async () => (await readStore.catalog()).building !== null)
  const took = await secondsOf(() =>
    eventually('it is put in place', async () => (await readStore.catalog()).wanted.length === 0, 900_000),
  )
  over.abort()
  await Promise.all([commanding, reading])
  // Other work on the machine comes and goes: what is compared is of about the same time.
  const bareAfter = await secondsOf(readWhole)
  await eventually('all is projected', isProjected)
  await projector.stop()

  const rates = {
    bare: Math.round(events / Math.max(bare, bareAfter)),
    whole: Math.round(events / took),
    projected: Math.round(wanted / took),
  }
  const line = `${events} events in ${took.toFixed(1)} s: ${rates.whole} a second of the whole log (bare reading ${rates.bare}), ${rates.projected} projected; ${counts.commands} commands and ${counts.reads} reads meanwhile, the slowest read ${counts.slowestMs.toFixed(0)} ms`
  note('read models made anew', line)

  // What was live before is caught up with, and compared.
  const old = views.map((view) => placed(view, first[view.collection]?.name ?? ''))
  const fold = await openFold(old, { store: readStore, log, logger: silent })
  for (let after = begunAt; ;) {
    const missed = await eventStore.readAll(after, 1_000)
    if (missed.length === 0) break
    await fold.fold(missed, null)
    after = missed.at(-1)?.position ?? after
  }
  for (const { collection } of views) {
    const [made, before] = [await textOf(collection), await textOf(first[collection]?.name ?? '')]
    expect({ collection, ...made }).toEqual({ collection, ...before })
  }
  expect((await textOf('logs')).count).toBeGreaterThan(events / 20)
  expect(counts.commands).toBeGreaterThan(0)
})

test('kill -9 at any moment of it leaves what there was or what was made, and never a part', async () => {
  const filling = await openProjector(0)
  await appendLog(20_000)
  await eventually('all is projected', isProjected, 120_000)
  await filling.stop()
  const names = views.map(({ collection }) => collection)
  const whole = async () => Promise.all(names.map(textOf))
  const before = await whole()

  /** Makes all anew in a process of its own, which is killed after the while. */
  async function makeAnew(killedAfterMs: number | null): Promise<number> {
    const begun = performance.now()
    await changeCatalog(stores.readStore, (catalog) => ({ ...catalog, wanted: names }))
    const maker = fileURLToPath(new URL('rebuild.maker.ts', import.meta.url))
    const child = spawn(process.execPath, ['--import', 'tsx', maker, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    const running = performance.now()
    const timer = killedAfterMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killedAfterMs)
    await ended
    clearTimeout(timer)
    return performance.now() - (killedAfterMs === null ? running : begun)
  }

  const tookMs = await makeAnew(null)
  expect(await whole()).toEqual(before)
  const kills = 12
  const seen = new Set<string>()
  for (let kill = 1; kill <= kills; kill += 1) {
    const earlier = (await stores.readStore.catalog()).live['tasks']?.name ?? ''
    await makeAnew((tookMs * kill) / kills)
    const { live, building } = await stores.readStore.catalog()
    expect(Object.keys(live)).toHaveLength(views.length)
    expect(new Set(Object.values(live).map(({ name }) => name.split('_').at(-1))).size).toBe(1)
    seen.add(
      live['tasks']?.name === earlier ? `before, ${building === null ? 'not begun' : 'half made'}` : 'after',
    )
    expect(await whole()).toEqual(before)
  }
  note('kill -9 while read models are made anew', `${kills} kills: ${[...seen].join('; ')}`)
  await makeAnew(null)
  expect(await whole()).toEqual(before)
  expect((await stores.readStore.generations()).toSorted()).toEqual(
    Object.values((await stores.readStore.catalog()).live)
      .map(({ name }) => name)
      .toSorted(),
  )
})
