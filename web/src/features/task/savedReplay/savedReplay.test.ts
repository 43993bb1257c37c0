// @vitest-environment jsdom
/** A recording goes into its page as text and comes out as it was; what a file must not hold is not in it. */
import { expect, test } from 'vitest'
import type { HistoryItem } from '#domain/history/item.ts'
import { taskId } from '../../../../../tests/domain/ids.ts'
import { recorded } from '../../../../../tests/domain/recorded.ts'
import { completed } from '../../../../../tests/domain/taskHistories.ts'
import type { HistoryPage, HistorySource } from '../history/readHistory.ts'
import { withRecording } from './embed.ts'
import { isRecording, readRecording, recordedSource, type Recording } from './recording.ts'

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
  format: 1,
  savedAt: '2026-01-01T00:00:00.000Z',
  base: { id, project, images: [] },
  names: { person: hostile, repository: '' },
  items: events,
  missing: [],
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
  for (const value of [null, [], {}, { ...recording, format: 2 }, { ...recording, items: 'none' }])
    expect(isRecording(value)).toBe(false)
})

function sourceOf(...pages: readonly (HistoryPage | { readonly reason: string })[]): HistorySource {
  const left = [...pages]
  return {
    page: async () => left.shift() ?? { reason: 'There are no more pages.' },
    changes: async () => ({ reason: '' }),
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

test('all pages are in it, and no address of an image', async () => {
  const source = sourceOf(pageOf(events.slice(0, 2), true), pageOf(events.slice(2), false))
  const { names } = recording
  const made = await readRecording(
    { source, base: { id, project, images: [image] }, names },
    new AbortController().signal,
  )
  expect(made).toMatchObject({ items: events, base: { id, project, images: [] }, names })
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
