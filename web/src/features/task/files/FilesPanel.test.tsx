// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { FileEntry, TaskFile } from '#domain/api/taskFiles.schema.ts'
import { openPart } from '../../../../../tests/client/page.tsx'
import { taskOf } from '../../../../../tests/client/samples.ts'
import { refusal, type Asked } from '../../../../../tests/client/server.ts'
import { FilesPanel } from './FilesPanel.tsx'
import { sizeText } from './texts.ts'

const task = taskOf(1)
const call = `GET /tasks/${task.id}/files`

/** jsdom has no layout: here every element is as high as a wide screen. */
beforeEach(() => {
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(900)
  vi.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(1_000)
  Element.prototype.scrollTo = () => undefined
  onTestFinished(() => {
    vi.restoreAllMocks()
  })
})

const from = { kind: 'workspace', branch: 'flightdeck/a-task' } as const
const entry = (name: string, kind: FileEntry['kind'] = 'file', over: Partial<FileEntry> = {}): FileEntry => ({
  name,
  kind,
  size: kind === 'file' ? 12 : null,
  target: null,
  opens: true,
  ...over,
})
const file = (path: string, over: Partial<TaskFile> = {}): TaskFile => ({
  path,
  kind: 'text',
  size: 12,
  target: null,
  mediaType: null,
  content: 'first\nsecond\n',
  cut: false,
  redacted: false,
  ...over,
})
const folders: Readonly<Record<string, readonly FileEntry[]>> = {
  '': [
    entry('src', 'folder'),
    entry('away', 'link', { target: '/etc/passwd' }),
    entry('README.md'),
    entry('\ufffd', 'file', { opens: false }),
  ],
  src: [entry('a.ts'), entry('new\nline')],
}

function open(files: Readonly<Record<string, TaskFile>> = {}, leftOut = 0) {
  const answer = ({ query }: Asked) => {
    const { path, search } = query
    if (path === undefined)
      return { files: ['src/a.ts', 'README.md'].filter((one) => one.includes(search ?? '')) }
    const entries = folders[path]
    if (entries !== undefined) return { entries, leftOut, from }
    const found = files[path]
    return found === undefined
      ? refusal(404, 'There is no such file in this task.', 'not_found')
      : { file: found, from }
  }
  return openPart(<FilesPanel task={task} visible tools={null} />, { [call]: answer })
}
const row = (name: string) => screen.findByRole('treeitem', { name })
const key = (name: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key: name })
const focused = () => document.activeElement?.getAttribute('aria-label')

describe('the tree', () => {
  test('reads a folder when it is opened, and has the keys of a tree', async () => {
    const { server } = open()
    const src = await row('src')
    expect(server.of(call)).toHaveLength(1)
    expect(src.tabIndex).toBe(0)
    src.focus()
    key('ArrowRight')
    await row('a.ts, 12 bytes')
    expect(server.of(call).map(({ query }) => query['path'])).toEqual(['', 'src'])
    key('ArrowDown')
    expect(focused()).toBe('a.ts, 12 bytes')
    key('ArrowLeft')
    expect(focused()).toBe('src')
    key('End')
    expect(focused()).toBe('\ufffd, 12 bytes')
    key('Home')
    key('ArrowLeft')
    await waitFor(() => expect(screen.queryByRole('treeitem', { name: 'a.ts, 12 bytes' })).toBeNull())
  })

  test('shows links with their target, marks odd characters, and says how many entries are left out', async () => {
    open({}, 99_000)
    fireEvent.click(await row('src'))
    await row('away, Link, /etc/passwd')
    await row('new␊line, 12 bytes')
    expect((await screen.findAllByText('99,000 more entries are not listed. Search for them.')).length).toBe(
      2,
    )
  })
})

describe('a file', () => {
  test('is opened with its lines; a click on a number marks the line', async () => {
    open({ 'README.md': file('README.md', { cut: true, redacted: true, size: 3_400_000 }) })
    fireEvent.click(await row('README.md, 12 bytes'))
    await screen.findByText('first')
    await screen.findByText('Only the beginning of this file is shown. It has 3.4 MB.')
    await screen.findByText('Secrets in this file are hidden.')
    const second = screen.getByRole('button', { name: 'Line 2' })
    fireEvent.click(second)
    await waitFor(() => expect(second.parentElement?.getAttribute('aria-current')).toBe('location'))
  })

  test('is copied whole, with the lines between the ends of a selection that are not in the page', async () => {
    const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index + 1}`)
    open({ away: file('away', { content: lines.join('\n') }) })
    fireEvent.click(await row('away, Link, /etc/passwd'))
    const first = (await screen.findByText('line 2')).firstChild
    const region = screen.getByRole('region', { name: 'Content of away' })
    const select = (to: Node | null) => {
      if (first === null || to === null) throw new Error('There is no text.')
      document.getSelection()?.setBaseAndExtent(first, 2, to, 4)
      act(() => void document.dispatchEvent(new Event('selectionchange')))
    }
    select(screen.getByText('line 9').firstChild)
    region.scrollTop = 20_000
    fireEvent.scroll(region)
    const last = await screen.findByText('line 1001')
    expect(screen.queryByText('line 500')).toBeNull()
    select(last.firstChild)
    const setData = vi.fn<(type: string, text: string) => void>()
    expect(fireEvent.copy(region, { clipboardData: { setData } })).toBe(false)
    const copied = ['ne 2', ...lines.slice(2, 1_000), 'line'].join('\n')
    expect(setData.mock.calls).toEqual([['text/plain', copied]])
  })

  test.each([
    [{ kind: 'binary', content: null } as const, 'Binary file'],
    [{ kind: 'link', target: '/etc/passwd', content: null } as const, /Symbolic link to \/etc\/passwd/],
    [{ kind: 'other', content: null, size: null } as const, /Not a plain file/],
    [{ kind: 'text', content: '', size: 0 } as const, 'Empty file'],
  ])('that is not shown says why: %j', async (over, why) => {
    open({ 'README.md': file('README.md', over) })
    fireEvent.click(await row('README.md, 12 bytes'))
    expect(await screen.findByText(why)).toBeTruthy()
  })

  test('that is an image is shown as one, and one that is gone says so', async () => {
    open({ away: file('away', { kind: 'image', mediaType: 'image/png', content: 'AAAA' }) })
    fireEvent.click(await row('away, Link, /etc/passwd'))
    expect((await screen.findByAltText('away')).getAttribute('src')).toBe('data:image/png;base64,AAAA')
    fireEvent.click(await row('README.md, 12 bytes'))
    await screen.findByText(/There is no such file in this task/)
  })
})

test('a search is opened with its key, and opens the chosen file', async () => {
  open({ 'src/a.ts': file('src/a.ts') })
  ;(await row('src')).focus()
  key('/')
  const box = await screen.findByRole('combobox', { name: 'Search files' })
  fireEvent.change(box, { target: { value: 'a.ts' } })
  await screen.findByText('1 file')
  fireEvent.keyDown(box, { key: 'Enter' })
  await screen.findByText('second')
  expect(screen.queryByRole('combobox')).toBeNull()
})

test('without a repository the reason is shown, and can be tried again', async () => {
  const why = "The files can't be read right now."
  const { server } = openPart(<FilesPanel task={task} visible tools={null} />, {
    [call]: () => refusal(409, why, 'not_initialized'),
  })
  await screen.findByText('Repository Not Initialized')
  await screen.findByText(why)
  server.answer({ [call]: { entries: [], leftOut: 0, from } })
  fireEvent.click(screen.getByRole('button', { name: 'Try Again' }))
  expect(await screen.findByText('No Files')).toBeTruthy()
})

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1 kB'],
  [3_400_000, '3.4 MB'],
  [1_073_741_824, '1.1 GB'],
  [5e12, '5000 GB'],
])('%i bytes are %s', (bytes, text) => expect(sizeText(bytes)).toBe(text))
