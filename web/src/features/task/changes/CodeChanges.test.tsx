// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ChangedFile } from '#domain/api/tasks.schema.ts'
import { openPart } from '../../../../../tests/client/page.tsx'
import { diffOf, fileOf, messageOf, taskOf } from '../../../../../tests/client/samples.ts'
import { refusal, type Answers } from '../../../../../tests/client/server.ts'
import { api } from '../../../api/api.ts'
import { taskLoaded, taskOpened } from '../taskSlice.ts'
import { CodeChanges } from './CodeChanges.tsx'
import { commentMessage } from './commentMessage.ts'
import { readDiffs } from './diff/readDiffs.ts'

const task = taskOf(1)
const at = `/tasks/${task.id}`

/** jsdom has no layout: here every element is as high as a wide screen, and scrolls where it is told to. */
beforeEach(() => {
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(900)
  vi.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(1_000)
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(40)
  Element.prototype.scrollTo = function scrollTo(this: Element, to?: ScrollToOptions | number) {
    this.scrollTop = typeof to === 'object' ? (to.top ?? 0) : 0
    this.dispatchEvent(new Event('scroll'))
  }
})

function open(changedFiles: readonly ChangedFile[], answers: Answers = {}) {
  const diff = (files: readonly ChangedFile[]) => ({ data: diffOf({ changedFiles: [...files] }) })
  const { server, store } = openPart(
    <CodeChanges task={task} reload={() => undefined} visible tools={null} />,
    { [`GET ${at}/git/diff`]: diff(changedFiles), ...answers },
  )
  store.dispatch(taskOpened(task.id))
  store.dispatch(taskLoaded(task))
  onTestFinished(() => {
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  })
  return {
    server,
    /** Gives the server other changes, and tells the page about them. */
    async become(files: readonly ChangedFile[]) {
      const before = server.of(`GET ${at}/git/diff`).length
      server.answer({ [`GET ${at}/git/diff`]: diff(files) })
      act(() => void store.dispatch(api.util.invalidateTags([{ type: 'Diff', id: task.id }])))
      await waitFor(() => expect(server.of(`GET ${at}/git/diff`).length).toBeGreaterThan(before))
    },
  }
}
const list = () => screen.findByLabelText('Changes')
const rows = async () => [...(await list()).querySelectorAll<HTMLElement>('[data-row]')]
const rowWith = (text: string) =>
  waitFor(async () => {
    const found = (await rows()).find((row) => row.textContent.includes(text))
    if (found === undefined) throw new Error(`No line has ${text}.`)
    return found
  })
const key = (name: string, init: KeyboardEventInit = {}) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key: name, ...init })
const focused = () => document.activeElement?.getAttribute('aria-label')

const long = (lines: number, name = 'long.ts') =>
  fileOf(name, {
    additions: lines,
    deletions: 0,
    diff: `@@ -0,0 +1,${lines} @@\n${Array.from({ length: lines }, (_, n) => `+const value${n} = compute(${n}, 'name ${n}')\n`).join('')}`,
  })

describe('a diff of 10,000 lines', () => {
  test.each(['Unified', 'Split'])('has few of them in the page: %s', async (look) => {
    open([long(10_000)])
    fireEvent.click(await screen.findByText(look))
    await waitFor(async () => expect((await rows()).length).toBeGreaterThan(20))
    // The colours come with a chunk of their own, and make up most of the nodes.
    await waitFor(async () => expect((await list()).querySelector('[class^=text-syn]')).not.toBeNull())
    expect(document.querySelectorAll('*').length).toBeLessThan(1_500)
  })

  test('of 2,000 files has few of these too', async () => {
    open(Array.from({ length: 2_000 }, (_, n) => long(5, `folder-${n % 40}/file-${n}.ts`)))
    await waitFor(async () => expect((await rows()).length).toBeGreaterThan(20))
    expect(document.querySelectorAll('*').length).toBeLessThan(1_500)
  })

  test('has one line that Tab stops at', async () => {
    open([long(10_000)])
    await waitFor(async () => expect((await rows()).length).toBeGreaterThan(20))
    expect((await rows()).filter(({ tabIndex }) => tabIndex === 0)).toHaveLength(1)
  })
})

// Holds screens 2.62b.
test('each file has its badge, its counts and its numbered lines, and folds; all can be read again', async () => {
  const { server } = open([
    fileOf('a.ts'),
    fileOf('empty.txt', { status: 'untracked', additions: 0, deletions: 0, diff: '' }),
  ])
  const head = await screen.findByRole('button', { name: /a\.ts/, expanded: true })
  expect(within(head).getByRole('img', { name: 'Modified' })).toBeTruthy()
  for (const count of ['+1', '−1']) expect(within(head).getByText(count)).toBeTruthy()
  const shown = (await rows()).map((row) => row.textContent).slice(0, 3)
  expect(shown).toEqual([
    expect.stringMatching(/^11\s*same$/),
    expect.stringMatching(/^2−before$/),
    expect.stringMatching(/^2\+after$/),
  ])
  expect(screen.getByText('@@ -1,2 +1,2 @@')).toBeTruthy()
  expect(screen.getByText('No diff available to display for this file.')).toBeTruthy()
  fireEvent.click(head)
  expect((await rows()).filter((row) => row.textContent.includes('after'))).toEqual([])

  const before = server.of(`GET ${at}/git/diff`).length
  fireEvent.click(screen.getByRole('button', { name: 'Refresh' }))
  await waitFor(() => expect(server.of(`GET ${at}/git/diff`).length).toBe(before + 1))
})

test.each([
  ['changes', [fileOf('a.ts')], 'Changed Files (1)'],
  ['no changes', [], 'No Changes'],
] as const)(
  '%s that cannot be read again stay, with the reason and a way to try',
  async (_, files, title) => {
    const { server } = open(files)
    await screen.findByText(title)
    server.answer({ [`GET ${at}/git/diff`]: () => refusal(502, 'No runner answers.') })
    fireEvent.click(screen.getByRole('button', { name: 'Refresh' }))
    expect((await screen.findByText('No runner answers.')).closest('[role=alert]')).not.toBeNull()
    expect(screen.getByText(title)).toBeTruthy()
    server.answer({ [`GET ${at}/git/diff`]: { data: diffOf({ changedFiles: [...files] }) } })
    fireEvent.click(screen.getByRole('button', { name: 'Try Again' }))
    await waitFor(() => expect(screen.queryByText('No runner answers.')).toBeNull())
    expect(screen.getByText(title)).toBeTruthy()
  },
)

describe('what is read', () => {
  test('stays when there are newer changes, until they are asked for', async () => {
    const { become } = open([fileOf('a.ts')])
    fireEvent.focus(await rowWith('+after'))
    await become([fileOf('a.ts', { diff: fileOf('a.ts').diff.replace('+after', '+later') }), fileOf('b.ts')])
    expect(await screen.findByText('Newer changes are available.')).toBeTruthy()
    expect(await rowWith('+after')).toBeTruthy()
    fireEvent.blur(await rowWith('+after'))
    expect(screen.getByText('Newer changes are available.')).toBeTruthy()
    const note = screen.getByText('Newer changes are available.').parentElement
    fireEvent.click(within(note ?? document.body).getByRole('button', { name: 'Refresh' }))
    expect(await rowWith('+later')).toBeTruthy()
    expect(screen.queryByText('Newer changes are available.')).toBeNull()
  })

  test('is read no more once there are no changes, so that later ones are shown', async () => {
    const { become } = open([fileOf('a.ts')])
    fireEvent.focus(await rowWith('+after'))
    await become([])
    const note = (await screen.findByText('Newer changes are available.')).parentElement
    fireEvent.click(within(note ?? document.body).getByRole('button', { name: 'Refresh' }))
    expect(await screen.findByText('No Changes')).toBeTruthy()
    await become([fileOf('b.ts')])
    expect(await screen.findByText('Changed Files (1)')).toBeTruthy()
  })

  test('is not told to be old when nothing of it has changed', async () => {
    const { become } = open([fileOf('a.ts')])
    fireEvent.focus(await rowWith('+after'))
    await become([fileOf('a.ts')])
    expect(screen.queryByText('Newer changes are available.')).toBeNull()
  })

  test('follows what the task does while nobody reads', async () => {
    const { become } = open([fileOf('a.ts')])
    await rowWith('+after')
    await become([fileOf('a.ts', { diff: fileOf('a.ts').diff.replace('+after', '+later') })])
    await waitFor(async () => expect(await rowWith('+later')).toBeTruthy())
  })
})

describe('a file that was viewed', () => {
  test('folds, is counted, and is so again after a reload', async () => {
    open([fileOf('a.ts'), fileOf('b.ts')])
    fireEvent.click(await screen.findByLabelText('Viewed a.ts'))
    expect(await screen.findByText('1 of 2 viewed')).toBeTruthy()
    await waitFor(async () => expect(await rows()).toHaveLength(3))
    cleanup()
    open([fileOf('a.ts'), fileOf('b.ts')])
    expect(await screen.findByText('1 of 2 viewed')).toBeTruthy()
  })

  test('that changes again loses its tick', async () => {
    const { become } = open([fileOf('a.ts')])
    fireEvent.click(await screen.findByLabelText('Viewed a.ts'))
    await become([fileOf('a.ts', { diff: fileOf('a.ts').diff.replace('+after', '+later') })])
    expect(await screen.findByText('0 of 1 viewed')).toBeTruthy()
    expect(await rowWith('+later')).toBeTruthy()
  })
})

describe('keys', () => {
  test('go from change to change and from file to file', async () => {
    open([fileOf('a.ts'), fileOf('b.ts')])
    await rowWith('+after')
    // Each file has three lines: a context line, a deleted and an added one.
    const isAt = (line: number) =>
      waitFor(async () =>
        expect((await rows()).findIndex((row) => row === document.activeElement)).toBe(line),
      )
    for (const [pressed, line] of [
      ['j', 1],
      ['ArrowDown', 2],
      ['n', 3],
      ['j', 4],
      ['k', 1],
      ['n', 3],
      ['p', 0],
    ] as const) {
      key(pressed)
      await isAt(line)
    }
    expect(focused()).toBe('Line 1: same')
  })
})

describe('looking for text', () => {
  test('counts it, marks it, and unfolds the file it goes on to', async () => {
    open([fileOf('a.ts'), fileOf('b.ts')])
    fireEvent.click(await screen.findByLabelText('Viewed b.ts'))
    fireEvent.focus(await rowWith('+after'))
    key('f', { ctrlKey: true })
    const field = await screen.findByRole('searchbox', { name: 'Find in changes' })
    fireEvent.change(field, { target: { value: 'AFTER' } })
    expect(await screen.findByText('1 of 2')).toBeTruthy()
    expect((await rowWith('+after')).querySelector('mark')?.textContent).toBe('after')
    fireEvent.keyDown(field, { key: 'Enter' })
    expect(await screen.findByText('2 of 2')).toBeTruthy()
    await waitFor(async () => expect(await rows()).toHaveLength(6))
    fireEvent.change(field, { target: { value: 'nowhere' } })
    expect(await screen.findByText('No results')).toBeTruthy()
    fireEvent.keyDown(field, { key: 'Escape' })
    await waitFor(() => expect(screen.queryByRole('search')).toBeNull())
  })
})

describe('lines around a change', () => {
  const name = `index ${'a1'.repeat(20)}..${'b2'.repeat(20)} 100644`
  const diff = `diff --git a/a.ts b/a.ts\n${name}\n--- a/a.ts\n+++ b/a.ts\n@@ -31,3 +31,3 @@\n 31\n-32\n+two\n 33\n`
  const changed = [fileOf('a.ts', { diff })]

  test('are asked for and shown', async () => {
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n + 11}`)
    const { server } = open(changed, { [`GET ${at}/git/file`]: { from: 11, lines, total: 40 } })
    fireEvent.click(await screen.findByLabelText('Show 20 lines above'))
    expect((await rowWith('line 30')).textContent).toBe('3030 line 30')
    expect(server.of(`GET ${at}/git/file`)[0]?.query).toEqual({ path: 'a.ts', from: '11', to: '30' })
    expect(screen.getByLabelText('Show the 10 hidden lines')).toBeTruthy()
    // The search includes these lines.
    fireEvent.click(screen.getByLabelText('Find in changes'))
    fireEvent.change(await screen.findByRole('searchbox', { name: 'Find in changes' }), {
      target: { value: 'line 2' },
    })
    expect(await screen.findByText('1 of 10')).toBeTruthy()
  })

  test('that cannot be read are told, with the reason', async () => {
    open(changed, { [`GET ${at}/git/file`]: () => refusal(409, 'No runner has it.') })
    const button = await screen.findByLabelText('Show 20 lines above')
    fireEvent.click(button)
    await waitFor(() => expect(button).toHaveProperty('disabled', false))
    expect(await rows()).toHaveLength(4)
  })
})

describe('whitespace', () => {
  test('can be left out, and how much of it is said', async () => {
    const diff = '@@ -1,2 +1,2 @@\n-a\n+  a\n-b\n+c\n'
    open([fileOf('a.py', { diff }), fileOf('b.py', { diff: '@@ -1 +1 @@\n-a\n+ a\n' })])
    fireEvent.click(await screen.findByLabelText('Hide whitespace changes'))
    expect(await screen.findByText('2 lines with whitespace changes hidden')).toBeTruthy()
    expect(screen.getByText('Only whitespace changed. It is hidden.')).toBeTruthy()
    expect((await rows()).map(({ textContent }) => textContent)).toEqual(['11   a', '2−b', '2+c'])
  })
})

describe('a comment', () => {
  const post = `POST ${at}/chat`
  const answer = { [post]: { success: true, chatMessage: messageOf(1) } }
  const field = () => screen.findByRole('textbox', { name: /^Comment to Claude on/ })

  test('on a line goes to the agent as a message that quotes it', async () => {
    const { server } = open([fileOf('a.ts')], answer)
    const row = await rowWith('+after')
    act(() => row.focus())
    key('c')
    fireEvent.change(await field(), { target: { value: 'Say it louder' } })
    fireEvent.keyDown(await field(), { key: 'Enter', ctrlKey: true })
    await waitFor(() => expect(server.of(post)).toHaveLength(1))
    const line = readDiffs([fileOf('a.ts')])[0]?.hunks[0]?.lines.slice(2)
    expect(server.of(post)[0]?.body).toMatchObject({
      message: commentMessage('a.ts', line ?? [], 'Say it louder'),
      messageType: 'user',
      isCommand: false,
      agent: 'claude',
    })
    await waitFor(() => expect(focused()).toBe('Added line 2: after'))
    expect(screen.queryByRole('textbox', { name: /^Comment to/ })).toBeNull()
  })

  test('is for all the lines that were taken together by keys', async () => {
    const { server } = open([fileOf('a.ts')], answer)
    const row = await rowWith('same')
    act(() => row.focus())
    key('ArrowDown', { shiftKey: true })
    await waitFor(() => expect(focused()).toBe('Deleted line 2: before'))
    key('ArrowDown', { shiftKey: true })
    await waitFor(() => expect(focused()).toBe('Added line 2: after'))
    key('c')
    fireEvent.change(await field(), { target: { value: 'All three' } })
    fireEvent.keyDown(await field(), { key: 'Enter', ctrlKey: true })
    await waitFor(() => expect(server.of(post)).toHaveLength(1))
    expect(JSON.stringify(server.of(post)[0]?.body)).toContain(
      ['`a.ts:1-2`', '>', '> ```diff', '>  same', '> -before', '> +after'].join('\\n'),
    )
  })

  test('below the fold is scrolled to as it opens and while it is written', async () => {
    vi.spyOn(Element.prototype, 'scrollHeight', 'get').mockReturnValue(200 * 20)
    open([long(200)])
    const row = await rowWith('value40 ')
    const box = await list()
    act(() => row.focus())
    expect(box.scrollTop).toBe(0)
    key('c')
    const writing = await field()
    await waitFor(() => expect(box.scrollTop).toBeGreaterThan(0))
    box.scrollTo({ top: 0 })
    fireEvent.change(writing, { target: { value: 'Name it otherwise' } })
    await waitFor(() => expect(box.scrollTop).toBeGreaterThan(0))
  })

  test('is for the lines that the pointer went over', async () => {
    open([fileOf('a.ts')], answer)
    fireEvent.pointerMove(await rowWith('same'), { pointerType: 'mouse' })
    const add = await within(await rowWith('same')).findByRole('button', { name: 'Comment on this line' })
    fireEvent.pointerDown(add, { button: 0, buttons: 1 })
    fireEvent.pointerMove(await rowWith('+after'), { pointerType: 'mouse', buttons: 1 })
    // The button is under the pointer on that line too.
    fireEvent.pointerUp(
      await within(await rowWith('+after')).findByRole('button', { name: 'Comment on this line' }),
    )
    expect(await screen.findByRole('region', { name: 'Comment on a.ts:1-2' })).toBeTruthy()
  })

  test('that is left keeps what was written, until it is sent', async () => {
    open([fileOf('a.ts')], answer)
    const row = await rowWith('+after')
    act(() => row.focus())
    key('c')
    fireEvent.change(await field(), { target: { value: 'Not yet' } })
    fireEvent.keyDown(await field(), { key: 'Escape' })
    await waitFor(() => expect(focused()).toBe('Added line 2: after'))
    cleanup()
    open([fileOf('a.ts')], answer)
    const again = await rowWith('+after')
    act(() => again.focus())
    key('c')
    expect(await field()).toHaveProperty('value', 'Not yet')
    fireEvent.keyDown(await field(), { key: 'Enter', ctrlKey: true })
    await waitFor(() => expect(localStorage.getItem('commentDrafts')).toBe('{}'))
  })
})
