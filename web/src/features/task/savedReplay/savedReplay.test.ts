// @vitest-environment jsdom
/** A recording is written into its page as text and read back unchanged, and contains nothing that a file must not contain. */
import { describe, expect, test } from 'vitest'
import type { ChangedFile } from '#domain/api/tasks.schema.ts'
import type { HistoryItem } from '#domain/history/item.ts'
import { taskId } from '../../../../../tests/domain/ids.ts'
import { recorded } from '../../../../../tests/domain/recorded.ts'
import { completed } from '../../../../../tests/domain/taskHistories.ts'
import { WorkspaceChanged } from '#domain/task/events.ts'
import type { HistoryPage, HistorySource, RecordedChanges } from '../history/readHistory.ts'
import { withRecording } from './useSaveReplay.ts'
import { readSavedChanges, savedChangesAt, type SavedChangesLimits } from './savedChanges.ts'
import { readSavedImages, isRecording, readRecording, recordedSource, type Recording } from './recording.ts'

const id = taskId(1)
const hostile = '</script><script>alert(1)</script><!-- $& \u2028 </SCRIPT'
const player =
  '<html><script type="application/json" id="recording"></script><script>"the player"</script></html>'
const events: readonly HistoryItem[] = completed.map((event, revision) => ({
  kind: 'event',
  event: recorded(event, { revision, stream: `task-${id}` }),
}))
const project = { id: 'p', name: hostile, githubRepoName: '', githubOwner: '' }
const recording: Recording = {
  format: 2,
  savedAt: '2026-01-01T00:00:00.000Z',
  base: { id, project, images: [] },
  names: { person: hostile, repository: '' },
  items: events,
  missing: [],
  changes: { files: [], diffs: [], leftOut: 0 },
  images: { data: {}, leftOut: 0 },
}

test('hostile words stay words: the page has no script but its own, and reads what was put into it', () => {
  const page = new DOMParser().parseFromString(withRecording(player, recording).join(''), 'text/html')
  expect(page.scripts).toHaveLength(2)
  expect(page.scripts[1]?.textContent).toBe('"the player"')
  const read: unknown = JSON.parse(page.getElementById('recording')?.textContent ?? '')
  expect(read).toEqual(JSON.parse(JSON.stringify(recording)))
  expect(isRecording(read)).toBe(true)
})

test('another page than the player takes no recording', () => {
  expect(() => withRecording('<html><div id="root"></div></html>', recording)).toThrow('not the player')
})

test('what is no recording of this format is not played', () => {
  for (const value of [null, [], {}, { ...recording, format: 1 }, { ...recording, items: 'none' }])
    expect(isRecording(value)).toBe(false)
})

function sourceOf(...pages: readonly (HistoryPage | { readonly reason: string })[]): HistorySource {
  const left = [...pages]
  return {
    page: async () => left.shift() ?? { reason: 'There are no more pages.' },
    changes: async () => ({ reason: '' }),
    images: async () => [],
    bytes: async () => null,
  }
}

const pageOf = (items: readonly HistoryItem[], more: boolean): HistoryPage => ({
  items,
  more,
  next: `${items.length}`,
  total: events.length,
  missing: [],
})

const image = {
  id: 'i',
  name: 'a.png',
  size: 1,
  type: 'image/png',
  url: 'https://flightdeck.example/image?signature=secret',
  uploadedAt: '2026-01-01T00:00:00.000Z',
} as const

test('all pages are in it, and images as data without their addresses', async () => {
  const source: HistorySource = {
    ...sourceOf(pageOf(events.slice(0, 2), true), pageOf(events.slice(2), false)),
    images: async () => [image, { ...image, id: 'j', type: 'image/gif' }, { ...image, id: 'k' }],
    bytes: async (url) => (url === image.url ? Uint8Array.of(0, 255, 10) : null),
  }
  const { names } = recording
  const made = await readRecording(
    { source, base: { id, project, images: [image] }, names },
    new AbortController().signal,
  )
  const url = 'data:image/png;base64,AP8K'
  expect(made).toMatchObject({
    items: events,
    base: { id, project, images: [{ ...image, url }] },
    names,
    images: { data: { i: url, j: 'data:image/gif;base64,AP8K', k: url }, leftOut: 0 },
  })
  expect(JSON.stringify(made)).not.toContain('signature')
})

test('a history that cannot be read to its end makes no file', async () => {
  const source = sourceOf(pageOf(events.slice(0, 2), true), { reason: 'The server is away.' })
  const made = await readRecording({ ...recording, source }, new AbortController().signal)
  expect(made).toEqual({ reason: 'The server is away.' })
})

test('the file is read back in one page', async () => {
  const page = await recordedSource(recording).page(undefined, new AbortController().signal)
  expect(page).toMatchObject({ items: events, more: false, total: events.length })
})

describe('images', () => {
  const read = (type: string, limit: number) =>
    readSavedImages(
      {
        images: async () => [1, 2, 3].map((n) => ({ ...image, id: `${n}`, url: `${n}`, type })),
        bytes: async (url) => (url === '2' ? null : new Uint8Array(100_000)),
      },
      new AbortController().signal,
      limit,
    )

  test('that cannot be read, or no longer fit, are left out and counted', async () => {
    expect(await read('image/png', 1_000_000)).toMatchObject({ leftOut: 1, data: { 1: expect.any(String) } })
    expect(Object.keys((await read('image/png', 150_000)).data)).toEqual(['1'])
    expect(await read('image/png', 0)).toEqual({ data: {}, leftOut: 3 })
  })

  test('of another type than the server takes are left out', async () => {
    expect(await read('image/svg+xml', 1_000_000)).toEqual({ data: {}, leftOut: 3 })
    expect(await read('image/png;base64,AA==" onerror="x', 1_000_000)).toEqual({ data: {}, leftOut: 3 })
  })
})

describe('code changes', () => {
  const file = (fileName: string, diff: string): ChangedFile => ({
    fileName,
    status: 'modified',
    additions: 1,
    deletions: 0,
    binary: false,
    diff,
  })
  const changesOf = (...changedFiles: readonly ChangedFile[]): RecordedChanges => ({
    kept: true,
    diff: {
      status: 'ready',
      exists: true,
      changedFiles: [...changedFiles],
      totalChanges: changedFiles.length,
      currentBranch: 'b',
      commitComparison: { ahead: 0, behind: 0 },
      baseBranch: 'main',
      truncated: false,
      tree: null,
      version: 1,
    },
  })
  const a = file('a.txt', 'a'.repeat(1_000))
  const b = file('b.txt', 'b'.repeat(1_000))
  const changed = (executionId: string, revision: number): HistoryItem => ({
    kind: 'event',
    event: recorded(
      WorkspaceChanged.of(
        {
          executionId,
          files: 1,
          additions: 1,
          deletions: 0,
          ahead: 0,
          behind: 0,
          truncated: false,
          blob: null,
        },
        { currentBranch: 'b', baseBranch: 'main', tree: null },
      ),
      { revision, stream: `task-${id}` },
    ),
  })
  const items = [changed('one', 1), changed('one', 2), changed('two', 3), changed('two', 4)]
  const at: Readonly<Record<number, RecordedChanges>> = {
    1: changesOf(a),
    2: changesOf(a),
    3: changesOf(a, b),
    4: changesOf(b),
  }
  const read = (limits?: SavedChangesLimits) =>
    readSavedChanges(
      { changes: async (revision) => at[revision] ?? { reason: 'gone' } },
      items,
      new AbortController().signal,
      limits,
    )

  test('of every moment come back as they were, with each version of a file once', async () => {
    const saved = await read()
    expect(saved.files).toHaveLength(2)
    for (const revision of [1, 2, 3, 4]) expect(savedChangesAt(saved, revision)).toEqual(at[revision])
    expect(saved.leftOut).toBe(0)
  })

  test('that no longer fit are left out and counted: those of the ends of turns come first', async () => {
    const few = await read({ moments: 2, length: 1_000_000 })
    expect(few.diffs.map(({ revision }) => revision)).toEqual([4, 2])
    expect(few.leftOut).toBe(2)
    expect(savedChangesAt(few, 3)).toEqual({
      reason: 'This file holds the code changes of 2 of 4 moments, and not those of this one.',
    })
    const short = await read({ moments: 10, length: 1_500 })
    expect(short.diffs.map(({ revision }) => revision)).toEqual([4])
  })

  test('that cannot be read are left out', async () => {
    const saved = await readSavedChanges(sourceOf(), items, new AbortController().signal)
    expect(saved).toEqual({ files: [], diffs: [], leftOut: 4 })
  })
})
