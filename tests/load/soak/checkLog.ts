/** What the log says after a soak: what each viewer must show, whether each write is in it once, and whether each run has ended once. */
import type { AnyRecorded } from '#domain/views/view.ts'
import { comparePositions, type StoredEvent } from '#domain/kernel/event.ts'
import { parseStream, taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { chatView } from '#domain/views/chat.ts'
import { logView } from '#domain/views/commandLog.ts'
import { shownOf, tasksView } from '#domain/views/tasks.ts'
import { openStores } from '#platform/compose.ts'
import { logger } from '#platform/log.ts'
import { intact, wholeLog } from '#platform/ports/eventStore.ts'
import { foldView } from '../../domain/fold.ts'
import { byStream, faultsOf } from '../../server/stoppedProduct.ts'
import type { Expected } from './differences.ts'
import type { Written } from './ledger.ts'

export interface Checked {
  readonly events: number
  readonly runs: number
  /** How the runs ended, by the kind of the event and its code. */
  readonly ends: ReadonlyMap<string, number>
  /** What is wrong, in a sentence each. */
  readonly wrong: readonly string[]
  readonly expected: ReadonlyMap<string, Expected>
}

export interface LogPlace {
  readonly env: Readonly<Record<'EVENTSTORE_URL' | 'MONGODB_URL' | 'NATS_URL', string>>
  readonly masterKey: string
  readonly folder: string
}

export async function checkLog(
  { env, masterKey, folder }: LogPlace,
  taskIds: readonly string[],
  written: readonly Written[],
): Promise<Checked> {
  const engines = { eventStore: env.EVENTSTORE_URL, mongo: env.MONGODB_URL, nats: env.NATS_URL }
  const stores = await openStores({ dataDir: folder, engines, masterKey }, logger('warn'))
  try {
    const stored: StoredEvent[] = []
    for await (const record of wholeLog(stores.eventStore)) stored.push(...intact([record]))
    const streams = byStream(stored)
    const wrong = [...streams].flatMap(([stream, events]) => faultsOf(stream, events))
    const ends = new Map<string, number>()
    const expected = new Map<string, Expected>()
    let runs = 0
    for (const taskId of taskIds) {
      const opened: AnyRecorded[] = []
      for (const stream of [taskStream(taskId), terminalStream(taskId)])
        for (const event of streams.get(stream) ?? []) opened.push(await stores.log.open(event))
      const ofTask = opened.filter(({ stream }) => parseStream(stream).kind === 'task')
      wrong.push(...wrongWrites(taskId, ofTask, written))
      const ended = endsOfRuns(taskId, ofTask)
      runs += ended.runs
      wrong.push(...ended.wrong)
      for (const end of ended.ends) ends.set(end, (ends.get(end) ?? 0) + 1)
      expected.set(taskId, expectedOf(taskId, opened))
    }
    return { events: stored.length, runs, ends, wrong, expected }
  } finally {
    await stores.close()
  }
}

/** Each accepted write must have exactly one event, a refused one none, and one without an answer at most one. */
function wrongWrites(
  taskId: string,
  events: readonly AnyRecorded[],
  written: readonly Written[],
): readonly string[] {
  const found = new Map<string, number>()
  for (const event of events) {
    const [mark] = /mark-[0-9a-f-]{36}/.exec(textWrittenBy(event)) ?? []
    if (mark !== undefined) found.set(mark, (found.get(mark) ?? 0) + 1)
  }
  const known = written.filter((write) => write.taskId === taskId)
  const marks = new Set(known.map(({ mark }) => mark))
  return [
    ...known.flatMap(({ mark, what, outcome }) => {
      const times = found.get(mark) ?? 0
      const isRight = outcome === 'open' ? times <= 1 : times === (outcome === 'accepted' ? 1 : 0)
      return isRight ? [] : [`${what} of ${taskId}, ${outcome}, is in the log ${times} times: ${mark}`]
    }),
    ...[...found.keys()].filter((mark) => !marks.has(mark)).map((mark) => `${mark} was never written`),
  ]
}

/** The text of a person's write. The first message of a task repeats the description of its creation. */
function textWrittenBy(event: AnyRecorded): string {
  if (event.type === 'TaskCreated') return event.content?.description ?? ''
  if (event.type === 'TaskUpdated') return event.content?.title ?? ''
  if (event.type === 'MessagePosted') return event.content?.message ?? ''
  return event.type === 'MessageQueued' && event.revision > 1 ? (event.content?.message ?? '') : ''
}

function endsOfRuns(taskId: string, events: readonly AnyRecorded[]) {
  const requested: string[] = []
  const ended = new Map<string, string[]>()
  for (const event of events) {
    if (event.type === 'ExecutionRequested') requested.push(event.data.executionId)
    if (
      event.type === 'ExecutionCompleted' ||
      event.type === 'ExecutionFailed' ||
      event.type === 'ExecutionCancelled'
    ) {
      const end = event.type === 'ExecutionFailed' ? `${event.type} ${event.data.code}` : event.type
      ended.set(event.data.executionId, [...(ended.get(event.data.executionId) ?? []), end])
    }
  }
  const wrong = requested
    .filter((id) => ended.get(id)?.length !== 1)
    .map((id) => `the run ${id} of ${taskId} ended ${ended.get(id)?.length ?? 0} times`)
  return { runs: requested.length, ends: [...ended.values()].flat(), wrong }
}

function expectedOf(taskId: string, opened: readonly AnyRecorded[]): Expected {
  const events = opened.toSorted((a, b) => comparePositions(a.position, b.position))
  const task = foldView(tasksView, new Map(), events).get(taskId)
  if (task === undefined) throw new Error(`There is no task ${taskId}.`)
  return {
    task: { ...shownOf(task) },
    chat: documentsOf(foldView(chatView, new Map(), events)),
    logs: documentsOf(foldView(logView, new Map(), events)),
    terminal: events.flatMap((event): [number, string][] =>
      event.type === 'TerminalOutputRecorded' ? [[event.revision, event.content?.text ?? '']] : [],
    ),
  }
}

function documentsOf(documents: ReadonlyMap<string, object>): Expected['chat'] {
  return Object.fromEntries([...documents].map(([id, document]) => [id, { ...document }]))
}
