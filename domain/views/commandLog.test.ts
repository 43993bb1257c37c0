/** The command log: a tool call from its start to its end. */
import { describe, expect, test } from 'vitest'
import { LogEntry } from '../api/chat.schema.ts'
import { historyOf } from '../../tests/domain/given.ts'
import { executionId, imageId, messageId } from '../../tests/domain/ids.ts'
import { erased } from '../../tests/domain/recorded.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import {
  CommandOutputRecorded,
  MessageEdited,
  MessageWithdrawn,
  ToolFinished,
  ToolStarted,
  type TaskEvent,
} from '../task/events.ts'
import { ThinkingRecorded } from '../task/thinkingEvents.ts'
import { ArtifactKept } from '../task/artifactEvents.ts'
import { ToolImagesKept } from '../task/toolImageEvents.ts'
import { messageDocumentId } from './chat.ts'
import { logEntryOf, logView } from './commandLog.ts'
import { foldView } from '../../tests/domain/fold.ts'

const started = past.toolStarted(1, 'tool-1')
const finished = (ok: boolean) =>
  ToolFinished.of(
    {
      executionId: executionId(1),
      toolId: 'tool-1',
      ok,
      durationMs: 1_200,
      exitCode: ok ? 0 : 1,
      additions: null,
      deletions: null,
    },
    { summary: '12 passed', output: 'ok' },
  )
const addressOf = ({ imageId }: { readonly imageId: string }) => `/${imageId}`
const logOf = (...events: readonly TaskEvent[]) => historyOf<TaskEvent>(...events)
const entryOf = (log: ReturnType<typeof logOf>) =>
  foldView(logView, new Map(), log).get(`${executionId(1)}:tool-1`)

test('the images of a call are in its entry, named after what it read, with how many are missing', () => {
  const kept = {
    imageId: imageId(1),
    mediaType: 'image/png',
    width: 60,
    height: 40,
    blob: { hash: 'a'.repeat(64), size: 1_234 },
  } as const
  const tool = { executionId: executionId(1), toolId: 'tool-1' }
  const reading = ToolStarted.of(
    { ...tool, kind: 'read', parentToolId: null },
    { name: 'Read', target: 'docs/shot.png', input: '{}' },
  )
  const images = [kept, { ...kept, imageId: imageId(2) }]
  const all = [
    [[kept], 0, ['shot.png']],
    [images, 3, ['shot.png 1', 'shot.png 2']],
  ] as const
  for (const [found, leftOut, names] of all) {
    const event = ToolImagesKept.of({ ...tool, images: [...found], leftOut })
    const entry = entryOf(logOf(reading, event, finished(true)))
    expect(entry).toMatchObject({ hasImages: true, status: 'completed' })
    const shown = entry && logEntryOf(entry, addressOf)
    expect(shown).toEqual(LogEntry.parse(shown))
    expect(shown?.images).toMatchObject(names.map((name) => ({ name })))
    expect(shown?.images?.[0]).toMatchObject({ url: `/${imageId(1)}`, size: 1_234 })
    expect(shown).toMatchObject({ imagesLeftOut: leftOut })
  }
  const none = entryOf(logOf(reading, ToolImagesKept.of({ ...tool, images: [], leftOut: 2 })))
  expect(none).toMatchObject({ imagesLeftOut: 2 })
  expect(none).not.toHaveProperty('hasImages')
})

test('the artifacts of a turn are one entry, an erased one without its name', () => {
  const left = (n: number, mediaType: 'image/png' | 'text/plain', name: string) =>
    ArtifactKept.of(
      {
        executionId: executionId(1),
        artifactId: imageId(n),
        mediaType,
        blob: { hash: 'a'.repeat(64), size: n },
      },
      { name, digest: '' },
    )
  const log = logOf(
    left(1, 'image/png', 'shot.png'),
    left(2, 'text/plain', 'a/run.log'),
    left(3, 'image/png', 'gone.png'),
  )
  const all = [...log.slice(0, -1), ...log.slice(-1).map(erased)]
  const entry = foldView(logView, new Map(), all).get(`artifacts:${executionId(1)}`)
  expect(entry).toMatchObject({ kind: 'artifact', executionId: executionId(1), status: 'completed' })
  const shown = entry && logEntryOf(entry, addressOf)
  expect(shown).toEqual(LogEntry.parse(shown))
  const addressed = (n: number) => ({ id: imageId(n), size: n, url: `/${imageId(n)}` })
  expect(shown?.artifacts).toEqual([
    { ...addressed(1), name: 'shot.png', type: 'image/png' },
    { ...addressed(2), name: 'a/run.log', type: 'text/plain' },
    { ...addressed(3), name: null, type: 'image/png' },
  ])
})

test('a thought is an entry of its own kind, with its text and from when it began', () => {
  const data = {
    executionId: executionId(1),
    messageId: messageId(9),
    agent: 'claude',
    durationMs: 2_000,
  } as const
  const log = logOf(started, ThinkingRecorded.of(data, { text: 'Which file?' }))
  const thought = foldView(logView, new Map(), log).get(`${executionId(1)}:${messageId(9)}`)
  const {
    id: _id,
    task: _task,
    position: _position,
    version: _version,
    order: _order,
    timestamp,
    ...shown
  } = thought ?? { id: '', task: '', position: '', version: 0, order: '', timestamp: '' }
  expect(shown).toEqual({
    kind: 'thinking',
    name: 'thinking',
    messageId: null,
    executionId: executionId(1),
    target: null,
    input: null,
    status: 'completed',
    exitCode: null,
    durationMs: 2_000,
    additions: null,
    deletions: null,
    summary: null,
    output: 'Which file?',
  })
  expect(Date.parse(log.at(-1)?.at ?? '') - Date.parse(timestamp)).toBe(2_000)
})

describe('a tool call', () => {
  test('of a sub-agent names the entry of the call that it works for', () => {
    const { data, content } = started
    const log = logOf(started, ToolStarted.of({ ...data, toolId: 'below', parentToolId: 'tool-1' }, content))
    const entries = foldView(logView, new Map(), log)
    expect(entries.get(`${executionId(1)}:below`)).toMatchObject({ parentId: `${executionId(1)}:tool-1` })
    expect(entries.get(`${executionId(1)}:tool-1`)).not.toHaveProperty('parentId')
  })

  test('runs until it ends', () =>
    expect(entryOf(logOf(started))).toMatchObject({
      status: 'running',
      kind: 'run',
      name: 'Bash',
      target: 'npm test',
      output: null,
      durationMs: null,
    }))

  test.each([
    [true, 'completed', 0],
    [false, 'failed', 1],
  ])('that ends with ok: %s is %s', (ok, status, exitCode) =>
    expect(entryOf(logOf(started, finished(ok)))).toMatchObject({
      status,
      exitCode,
      durationMs: 1_200,
      summary: '12 passed',
      output: 'ok',
    }),
  )

  test('whose start is not known is none', () => expect(entryOf(logOf(finished(true)))).toBeUndefined())

  test('of a command that a person ran stands beside them, from its message to its end', () => {
    const id = messageDocumentId('test', messageId(2))
    const entry = (...events: readonly TaskEvent[]) =>
      foldView(
        logView,
        new Map(),
        historyOf(
          past.completed,
          past.waits(2, 'command'),
          past.requested(2, 'follow_up', { kind: 'command' }),
          ...events,
        ),
      ).get(id)
    const queued = {
      messageId: messageId(2),
      kind: 'run',
      target: 'message 2',
      status: 'queued',
      executionId: null,
    }
    expect(entry()).toMatchObject(queued)
    expect(entry(MessageWithdrawn.of({ messageId: messageId(2) }))).toBeUndefined()
    expect(entry(MessageEdited.of({ messageId: messageId(2) }, { message: 'ls' }))).toMatchObject({
      target: 'ls',
    })
    const running = { ...queued, status: 'running', executionId: executionId(2) }
    expect(entry(past.started(2))).toMatchObject(running)
    const printed = CommandOutputRecorded.of(
      { executionId: executionId(2), messageId: messageId(2) },
      { output: 'two' },
    )
    const ended = {
      ...running,
      status: 'failed',
      exitCode: 3,
      output: 'two',
      summary: 'exit 3',
      durationMs: 0,
    }
    expect(entry(past.started(2), printed, past.succeeded(2, 3))).toMatchObject(ended)
    expect(entry(past.started(2), past.stopped(2))).toMatchObject({ status: 'cancelled', exitCode: null })
    const document = entry(past.started(2), printed, past.succeeded(2))
    const answer = document && logEntryOf(document, addressOf)
    expect(LogEntry.parse(answer)).toStrictEqual(answer)
  })

  test('of a turn’s message there is none', () =>
    expect([...foldView(logView, new Map(), logOf(...past.running, past.succeeded(1))).keys()]).toEqual([]))

  test('fits the contract, erased or not', () => {
    for (const log of [logOf(started, finished(true)), logOf(started, finished(true)).map(erased)]) {
      const entry = entryOf(log)
      const answer = entry && logEntryOf(entry, addressOf)
      expect(LogEntry.parse(answer)).toStrictEqual(answer)
    }
  })
})
