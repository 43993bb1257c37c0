/** How long a replay takes to show any moment of a task with 100,000 events, and how large its history is. */
import type { HistoryItem } from '#domain/history/item.ts'
import { terminalItemOf } from '#domain/history/item.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { MessagePosted, ToolFinished, ToolStarted, type TaskEvent } from '#domain/task/events.ts'
import { MessageTextRecorded, TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { createReplayEngine, snapshotEvery } from '../../../web/src/features/task/replay/replayEngine.ts'
import { foldItems, nothingYet } from '../../../web/src/features/task/replay/replayState.ts'
import { executionId, messageId, taskId } from '../../domain/ids.ts'
import { recorded } from '../../domain/recorded.ts'
import { queued, started } from '../../domain/taskHistories.ts'
import type { Row } from '../row.ts'
import { openSeededProduct } from '../seededProduct.ts'
import { percentile } from '../statistics.ts'

const events = 100_000
const seeks = 400
const megabyte = 1_000_000
const id = taskId(1)
const base = {
  id,
  images: [],
  project: { id: 'p', name: 'Parcel', githubRepoName: 'parcel', githubOwner: 'northwind' },
}

export const replay: Row = {
  name: 'replay',
  remark: 'The engine of the replay, in Node: a browser draws what it gives beside that.',
  async measure(scene) {
    const items = longHistory()
    const before = memory()
    const engine = createReplayEngine(base)
    for (let from = 0; from < items.length; from += 1_000) engine.add(items.slice(from, from + 1_000))
    const held = memory() - before
    const times = timesOf(seeks, (seek) => void engine.seek((seek * 7_919 * 13) % events))
    const floor = timesOf(
      50,
      () => void foldItems(nothingYet, items.slice(0, snapshotEvery), base, () => undefined),
    )

    const { client, seeded } = await openSeededProduct(scene)
    const task = `/api/tasks/${seeded.longTaskId}`
    const ask = (path: string) => client.ask({ method: 'GET', path })
    const page = await timed(() => wholeHistory(ask, task))
    const joined = await timed(() => wholeHistory(ask, task, '&pieces=joined'))
    const live = await timed(async () => {
      const paths = [task, `${task}/chat`, `${task}/commands?limit=500`, `${task}/terminal?limit=5000`]
      const answers = await Promise.all(paths.map((path) => client.ask({ method: 'GET', path })))
      return answers.reduce((sum, answer) => sum + answer.length, 0)
    })
    return [
      {
        name: 'any of 100,000 moments is shown: 95 of 100 seeks within',
        unit: 'ms',
        figure: percentile(times, 0.95),
        floor: { name: `folding ${snapshotEvery} events`, figure: percentile(floor, 0.95) },
      },
      {
        name: 'what the replay keeps of 100,000 events',
        unit: 'MB',
        figure: held / megabyte,
        floor: { name: 'the events as JSON', figure: JSON.stringify(items).length / megabyte },
      },
      {
        name: 'the history of 100,000 events is read',
        unit: 'ms',
        figure: page.ms,
        floor: { name: "the live page's reads", figure: live.ms },
      },
      {
        name: 'what that fetches',
        unit: 'MB',
        figure: page.result / megabyte,
        floor: { name: "the live page's reads", figure: live.result / megabyte },
      },
      {
        name: 'read again with joined pieces, as the replay reads it',
        unit: 'ms',
        figure: joined.ms,
        floor: { name: "the live page's reads", figure: live.ms },
      },
      {
        name: 'what that fetches',
        unit: 'MB',
        figure: joined.result / megabyte,
        floor: { name: "the live page's reads", figure: live.result / megabyte },
      },
    ]
  },
}

/** A fifth of the history are tool calls and answers, the rest output and text. */
function longHistory(): readonly HistoryItem[] {
  const items: HistoryItem[] = []
  const stream = taskStream(id)
  let revision = 0
  let printed = 0
  const place = () => ({
    position: String(items.length + 1),
    at: new Date(Date.UTC(2026, 0, 1) + 200 * items.length).toISOString(),
  })
  const happens = (event: TaskEvent) => {
    items.push({ kind: 'event', event: recorded(event, { revision, stream, ...place() }) })
    revision += 1
  }
  const prints = (event: Parameters<typeof recordedOf>[0]) => {
    items.push(recordedOf(event, printed, revision - 1, place()))
    printed += 1
  }
  for (const event of [...queued, started(1)]) happens(event)
  const attempt = { executionId: executionId(1), attempt: 1 }
  for (let step = 0; items.length < events; step += 1) {
    const tool = { executionId: executionId(1), toolId: `tool-${step}` }
    const words = { name: 'Bash', target: `npm test ${step}`, input: '{"command":"npm test"}' }
    happens(ToolStarted.of({ ...tool, kind: 'run', parentToolId: null }, words))
    for (let line = 0; line < 12; line += 1) {
      const text = `line ${line} of what the command ${step} prints, as long as such lines are\n`
      prints(TerminalOutputRecorded.of({ ...attempt, kind: 'turn', channel: 'stdout' }, { text }))
    }
    const ended = { ok: true, durationMs: 900, exitCode: 0, additions: null, deletions: null }
    happens(ToolFinished.of({ ...tool, ...ended }, { summary: 'passed', output: 'passed' }))
    const said = messageId(step)
    for (let part = 0; part < 4; part += 1) {
      const text = `part ${part} of an answer `
      prints(
        MessageTextRecorded.of(
          { ...attempt, messageId: said, offset: part * text.length },
          { text, begunAt: place().at, chunks: [[text.length, 0]] },
        ),
      )
    }
    happens(
      MessagePosted.of(
        { messageId: said, messageType: 'response', agent: 'claude', executionId: executionId(1) },
        { message: 'part 0 of an answer part 1 of an answer' },
      ),
    )
  }
  return items.slice(0, events)
}

function recordedOf(
  event: ReturnType<typeof TerminalOutputRecorded.of> | ReturnType<typeof MessageTextRecorded.of>,
  revision: number,
  follows: number,
  place: { readonly position: string; readonly at: string },
): HistoryItem {
  const piece = recorded(event, { revision, stream: terminalStream(id), ...place })
  return terminalItemOf({ ...piece, meta: { ...piece.meta, follows } })
}

/** Bytes of the heap, after a garbage collection if Node was started with `--expose-gc`. */
function memory(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

function timesOf(count: number, run: (number: number) => void): readonly number[] {
  return Array.from({ length: count }, (_, number) => {
    const startedAt = performance.now()
    run(number)
    return performance.now() - startedAt
  })
}

async function timed<Result>(run: () => Promise<Result>) {
  const startedAt = performance.now()
  const result = await run()
  return { result, ms: performance.now() - startedAt }
}

/** The total bytes of all pages. `form` is a further part of the query. */
async function wholeHistory(
  ask: (path: string) => Promise<string>,
  task: string,
  form = '',
): Promise<number> {
  let bytes = 0
  for (let after = '0.0', more = true; more;) {
    const answer = await ask(`${task}/history?after=${after}${form}`)
    bytes += answer.length
    const page: unknown = JSON.parse(answer)
    if (typeof page !== 'object' || page === null || !('next' in page) || !('more' in page))
      throw new Error('This is no page of a history.')
    after = String(page.next)
    more = page.more === true
  }
  return bytes
}
