// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { slashCommandsOf } from '#domain/task/slashCommands.ts'
import { openPage, openTaskAnswers } from '../../../../../../tests/client/page.tsx'
import { messageOf, taskOf } from '../../../../../../tests/client/samples.ts'
import { json, type Answers, type Asked } from '../../../../../../tests/client/server.ts'
import { fakeUploads, uploadedOf } from '../../../../../../tests/client/uploads.ts'

/** A spy that is called whenever the chat is drawn. */
const drawn = vi.hoisted(() => vi.fn<() => void>())
vi.mock(import('../entries/ChatEntries.tsx'), async (original) => {
  const { ChatEntries } = await original()
  return {
    ChatEntries: (props) => {
      drawn()
      return ChatEntries(props)
    },
  }
})

// Loads the page before the first test waits for it: on a busy machine that takes a while.
beforeAll(() => import('../../TaskDetail.tsx'), 60_000)

const { id } = taskOf(1)
const at = `/tasks/${id}`
const image = (n: number) => ({
  id: `image-${n}`,
  url: `/api/images/image-${n}?grant=1`,
  name: `screen ${n}.png`,
  size: 2_048,
  type: 'image/png' as const,
})
const images = (count: number) => Array.from({ length: count }, (_, index) => image(index + 1))
const ofTask = (count: number) => images(count).map((each) => ({ ...each, uploadedAt: taskOf(1).createdAt }))
const taken = (body: object = {}) => ({ success: true, chatMessage: messageOf(2, body) })

async function open(over: Partial<Task> = {}, answers: Answers = {}) {
  const server = openPage(at, { answers: { ...openTaskAnswers(taskOf(1, over)), ...answers } })
  await screen.findByRole('heading', { level: 1, name: 'Task 1' })
  return server
}
const composer = () => screen.findByRole('textbox', { name: 'Message' })
const write = async (text: string) => fireEvent.change(await composer(), { target: { value: text } })
const press = async (key: string) => fireEvent.keyDown(await composer(), { key })
const send = () => screen.getByRole('button', { name: 'Send' })
const chat = () => within(screen.getByRole('region', { name: 'Task Chat' }))
const terminal = (count: string) => within(screen.getByRole('region', { name: count }))
function pick(...names: readonly string[]) {
  const input = document.querySelector('input[type=file]')
  if (input === null) throw new Error('There is no file picker.')
  const files = names.map((name) => new File(['pixels'], name, { type: 'image/png' }))
  fireEvent.change(input, { target: { files } })
}

test('the mode is shown that the next agent will use, or one that it can use is offered', async () => {
  const free = 'Work freely in the sandbox'
  const mode = (label: string) => screen.findByRole('combobox', { name: `Mode: ${label}` })
  await open({ agent: 'opencode', mode: 'plan' })
  expect(await mode('Ask before each change')).toBeTruthy()
  cleanup()
  const server = await open(
    { agent: 'cursor', mode: 'plan' },
    { [`PUT ${at}`]: { success: true, task: taskOf(1, { agent: 'cursor' }) } },
  )
  fireEvent.click(await mode('Plan first'))
  fireEvent.click(await screen.findByRole('option', { name: free }))
  await waitFor(() => expect(server.of(`PUT ${at}`)[0]?.body).toEqual({ mode: 'free' }))
})

describe('the box of the next message', () => {
  // Holds screens 2.53b, 2.53d.
  test('sends with Enter and adds a line with Shift+Enter; an Enter that ends a character does neither', async () => {
    const server = await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    const box = await composer()
    expect(box.getAttribute('placeholder')).toBe('Create a new task...')
    await write('one line')
    // A key whose default is not prevented does what it does in any text box.
    expect(fireEvent.keyDown(box, { key: 'Enter', shiftKey: true })).toBe(true)
    expect(fireEvent.keyDown(box, { key: 'Enter', isComposing: true })).toBe(true)
    // Safari ends the composition before it sends the key that ended it.
    expect(fireEvent.keyDown(box, { key: 'Enter', isComposing: false, keyCode: 229 })).toBe(true)
    expect(server.of(`POST ${at}/chat`)).toEqual([])
    expect(fireEvent.keyDown(box, { key: 'Enter' })).toBe(false)
    await waitFor(() => expect(server.of(`POST ${at}/chat`)).toHaveLength(1))
  })

  test('keeps a text that is too long as it is, says by how much, and sends it once it fits', async () => {
    const server = await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    const box = await composer()
    expect(box.getAttribute('maxlength')).toBeNull()
    await write('y'.repeat(60_000))
    expect(box).toHaveProperty('value.length', 60_000)
    const sentence = 'Too long by 10,000: at most 50,000 characters fit.'
    expect(chat().getByText(sentence).getAttribute('role')).toBe('alert')
    expect(box.getAttribute('aria-invalid')).toBe('true')
    expect(send()).toHaveProperty('disabled', true)
    await press('Enter')
    expect(server.of(`POST ${at}/chat`)).toEqual([])
    await write('y'.repeat(50_000))
    expect(chat().queryByText(sentence)).toBeNull()
    fireEvent.click(send())
    await waitFor(() => expect(server.of(`POST ${at}/chat`)).toHaveLength(1))
  })

  test('has the focus again once its text was sent by the button', async () => {
    await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    await write('one line')
    act(() => send().focus())
    fireEvent.click(send())
    expect(document.activeElement).toBe(await composer())
  })

  test('has no Stop under a double tap on Send, in a narrow window', async () => {
    const answers = {
      [`POST ${at}/chat`]: () => json(201, taken()),
      [`POST ${at}/cancel`]: { task: taskOf(1) },
    }
    const server = openPage(at, {
      answers: { ...openTaskAnswers(taskOf(1, { status: 'running' })), ...answers },
      narrow: true,
    })
    await write('Go on')
    const box = await composer()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    fireEvent.click(send())
    expect(box).toHaveProperty('value', '')
    expect(send()).toHaveProperty('disabled', true)
    await act(() => vi.advanceTimersByTimeAsync(999))
    fireEvent.click(send())
    expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull()
    await act(() => vi.advanceTimersByTimeAsync(1))
    expect(screen.getByRole('button', { name: 'Stop' })).toBeTruthy()
    expect(server.of(`POST ${at}/chat`)).toHaveLength(1)
    expect(server.of(`POST ${at}/cancel`)).toEqual([])
  })

  test('draws nothing of the chat again while somebody types', async () => {
    await open({}, { [`GET ${at}/chat`]: { messages: [messageOf(1)], version: 1 } })
    await chat().findByText('message 1')
    drawn.mockClear()
    for (const text of ['a', 'ab', 'abc']) await write(text)
    expect(await composer()).toHaveProperty('value', 'abc')
    expect(drawn).not.toHaveBeenCalled()
  })

  // Holds screens 2.53c, 2.53e, 2.53h.
  test('in command mode says where commands run, and Escape closes the search and leaves the mode', async () => {
    await open()
    const box = await composer()
    fireEvent.click(screen.getByRole('button', { name: 'Command mode' }))
    expect(box.getAttribute('placeholder')).toBe('Enter command to execute...')
    expect(
      screen.getByText('Commands will be executed in the terminal. Press Escape to exit command mode.'),
    ).toBeTruthy()
    fireEvent.click(chat().getByRole('button', { name: 'Search messages' }))
    expect(chat().getByRole('searchbox')).toBeTruthy()
    act(() => box.focus())
    await press('Escape')
    expect(chat().queryByRole('searchbox')).toBeNull()
    expect(box.getAttribute('placeholder')).toBe('Enter command to execute...')
    await press('Escape')
    expect(box.getAttribute('placeholder')).toBe('Create a new task...')
  })
})

describe('images of a message', () => {
  // Holds screens 2.53f.
  test('are up to three, stand for its text, and go in the order they were attached', async () => {
    const uploads = fakeUploads()
    const server = await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    await composer()
    expect(send()).toHaveProperty('disabled', true)
    pick('a.png', 'b.png', 'c.png', 'd.png')
    expect(screen.getByText('Up to 3 images. 1 image was not attached.')).toBeTruthy()
    for (const index of [2, 0, 1])
      uploads.made[index]?.answer(201, uploadedOf(`image-${index}`, `${index}.png`))
    await waitFor(() => expect(screen.queryByRole('progressbar')).toBeNull())
    await press('Enter')
    await waitFor(() =>
      expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({
        message: '',
        images: ['image-0', 'image-1', 'image-2'],
      }),
    )
    expect(screen.queryByRole('list', { name: 'Attached images' })).toBeNull()
    expect(send()).toHaveProperty('disabled', true)
    expect(uploads.held.size).toBe(0)
  })

  test('are sent once however often Enter is pressed while they are uploaded', async () => {
    const uploads = fakeUploads()
    const answer = ({ body }: Asked) => json(201, taken({ id: Reflect.get(Object(body), 'id') }))
    const server = await open({}, { [`POST ${at}/chat`]: answer })
    await write('Look at this')
    pick('a.png')
    await press('Enter')
    await press('Enter')
    uploads.made[0]?.answer(201, uploadedOf('image-a', 'a.png'))
    await waitFor(() => expect(screen.queryByRole('list', { name: 'Attached images' })).toBeNull())
    await write('And at that')
    await press('Enter')
    const sent = () => server.of(`POST ${at}/chat`)
    await waitFor(() => expect(sent().at(-1)?.body).toMatchObject({ message: 'And at that' }))
    expect(sent()).toHaveLength(2)
  })

  test('that are awaited keep their message from becoming a command', async () => {
    const uploads = fakeUploads()
    const server = await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    const mode = screen.getByRole('button', { name: 'Command mode' })
    await write('rm -r work')
    pick('a.png')
    await press('Enter')
    await waitFor(() => expect(send().getAttribute('aria-busy')).toBe('true'))
    expect(mode).toHaveProperty('disabled', true)
    fireEvent.click(mode)
    uploads.made[0]?.answer(201, uploadedOf('image-a', 'a.png'))
    await waitFor(() =>
      expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({ isCommand: false, images: ['image-a'] }),
    )
    await waitFor(() => expect(mode).toHaveProperty('disabled', false))
  })

  test('do not go with commands, and wait for the next message', async () => {
    const uploads = fakeUploads()
    const server = await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    await composer()
    pick('a.png')
    uploads.made[0]?.answer(201, uploadedOf('image-a', 'a.png'))
    await waitFor(() => expect(send()).toHaveProperty('disabled', false))
    fireEvent.click(screen.getByRole('button', { name: 'Command mode' }))
    expect(screen.getByText("Commands can't include images.")).toBeTruthy()
    expect(send()).toHaveProperty('disabled', true)
    await write('ls')
    await press('Enter')
    await waitFor(() => expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({ images: [] }))
    expect(screen.getByText('a.png')).toBeTruthy()
  })

  // Holds contract 9.12b; screens 2.50b.
  test('are shown side by side up to three, and beside them how many more there are', async () => {
    const message = messageOf(1, { images: images(5) })
    await open({}, { [`GET ${at}/chat`]: { messages: [message], version: 1 } })
    const shown = await waitFor(() => {
      const all = chat().getAllByRole('img')
      expect(all).toHaveLength(3)
      return all
    })
    expect(shown.map((each) => each.getAttribute('alt'))).toEqual([
      'screen 1.png',
      'screen 2.png',
      'screen 3.png',
    ])
    expect(chat().getByText('+2').querySelector('img')).toBeNull()
    expect(chat().getByText('+2').closest('li')).not.toBe(shown[2]?.closest('li'))
    expect(shown[0]?.closest('ul')?.className).toContain('flex')
  })

  test('whose address has run out are shown at a new one', async () => {
    const message = messageOf(1, { images: images(1) })
    const server = await open({}, { [`GET ${at}/chat`]: { messages: [message], version: 1 } })
    await waitFor(() => expect(chat().getByRole('img')).toBeTruthy())
    const next = async (grant: number) => {
      const fresh = { ...image(1), url: `/api/images/image-1?grant=${grant}` }
      server.answer({ [`GET ${at}/images`]: { images: [fresh] } })
      fireEvent.error(chat().getByRole('img'))
      await waitFor(() => expect(chat().getByRole('img').getAttribute('src')).toBe(fresh.url))
    }
    await next(2)
    await next(3)
    // A picture that never loads is given up after some tries, and then shows its name.
    fireEvent.error(chat().getByRole('img'))
    expect(await chat().findByText("This image can't be displayed.")).toBeTruthy()
    expect(chat().getByText('screen 1.png')).toBeTruthy()
  })
})

describe('images of a task', () => {
  const first = messageOf(1, { message: 'Look at this', images: images(8) })
  const answers = { [`GET ${at}/chat`]: { messages: [first], version: 1 } }

  // Holds contract 9.12a; screens 2.50a, 2.50c.
  test('are shown first, in a grid of up to six, and not again in the message they came with', async () => {
    await open({ images: ofTask(8) }, answers)
    await chat().findByText('Look at this')
    const [told] = chat().getAllByRole('article')
    expect(told?.textContent).toContain('Task Images (8 images)')
    expect(told?.querySelector('.lucide-paperclip')).not.toBeNull()
    expect(chat().getAllByRole('img')).toHaveLength(6)
    expect(chat().getByText('+2')).toBeTruthy()
    expect(chat().getAllByRole('img')[0]?.closest('ul')?.className).toContain('grid')
  })

  // Holds screens 2.54b.
  test.each([
    [1, 'Task Images (1 image)', '1 image', 'flex'],
    [3, 'Task Images (3 images)', '3 images', 'flex gap'],
    [4, 'Task Images (4 images)', '4 images', 'grid'],
  ])('are above the terminal too, %i of them as %j', async (count, said, label, layout) => {
    await open({ images: ofTask(count) }, { [`GET ${at}/chat`]: { messages: [messageOf(1)], version: 1 } })
    await chat().findByText(said)
    const shown = terminal(label).getAllByRole('img')
    expect(shown).toHaveLength(count)
    expect(shown[0]?.closest('ul')?.className).toContain(layout)
  })

  // Holds contract 9.12c; screens 2.54d.
  test('are above the terminal four in a grid, with how many more there are', async () => {
    await open({ images: ofTask(8) }, answers)
    await chat().findByText('Look at this')
    // The pictures are collapsed until somebody asks for them, since the chat shows them already.
    const toggle = screen.getByRole('button', { name: '8 images' })
    expect(toggle.getAttribute('aria-expanded')).toBe('false')
    fireEvent.click(toggle)
    expect(toggle.getAttribute('aria-expanded')).toBe('true')
    expect(terminal('8 images').getAllByRole('img')).toHaveLength(4)
    // The button covers none of the four images, and opens the first of those that are not visible.
    const more = terminal('8 images').getByRole('button', { name: 'Show 4 more images' })
    expect(more.textContent).toBe('+4')
    expect(more.closest('li')?.querySelector('img')).toBeNull()
    fireEvent.click(more)
    expect(await screen.findByText(/5 of 8/)).toBeTruthy()
    fireEvent.click(toggle)
    expect(toggle.getAttribute('aria-expanded')).toBe('false')
  })
})

describe('what is being written', () => {
  const leave = () => window.dispatchEvent(new Event('pagehide'))
  const kept = () => JSON.parse(localStorage.getItem('chatDrafts') ?? '{}')

  test('outlives the page, for the tasks written in last, until it is sent', async () => {
    const before = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`task-${n}`, `draft ${n}`]))
    localStorage.setItem('chatDrafts', JSON.stringify(before))
    await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    await write('Half a thought')
    leave()
    expect(Object.keys(kept())).toHaveLength(20)
    expect(kept()).toMatchObject({ [id]: 'Half a thought', 'task-24': 'draft 24' })
    cleanup()

    await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    expect(await composer()).toHaveProperty('value', 'Half a thought')
    await press('Enter')
    expect(await composer()).toHaveProperty('value', '')
    leave()
    expect(kept()).not.toHaveProperty(id)
  })

  test('is not written down any more once the person has logged out', async () => {
    await open({}, { 'POST /auth/logout': {} })
    await write('A secret')
    fireEvent.click(screen.getByRole('button', { name: 'Logout' }))
    await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Message' })).toBeNull())
    expect(localStorage.getItem('authToken')).toBeNull()
    cleanup()
    expect(localStorage.getItem('chatDrafts') ?? '').not.toContain('secret')
  })
})

test('Escape ends voice first, then command mode, and then stops the turn', async () => {
  class Recognition extends EventTarget {
    start = () => void this.dispatchEvent(new Event('start'))
    stop = () => void this.dispatchEvent(new Event('end'))
    abort = vi.fn<() => void>()
  }
  vi.stubGlobal('webkitSpeechRecognition', Recognition)
  onTestFinished(() => void vi.unstubAllGlobals())
  const server = await open({ status: 'running' }, { [`POST ${at}/cancel`]: { task: taskOf(1) } })
  act(() => document.querySelector('textarea')?.focus())
  fireEvent.click(screen.getByRole('button', { name: 'Command mode' }))
  fireEvent.click(screen.getByRole('button', { name: 'Start voice recording' }))
  await screen.findByRole('button', { name: 'Stop voice recording' })
  await press('Escape')
  await screen.findByRole('button', { name: 'Start voice recording' })
  expect(screen.getByText(/Press Escape to exit command mode/)).toBeTruthy()
  await press('Escape')
  expect(screen.queryByText(/Press Escape to exit command mode/)).toBeNull()
  expect(server.of(`POST ${at}/cancel`)).toEqual([])
  await write('A thought')
  await press('Escape')
  expect(server.of(`POST ${at}/cancel`)).toEqual([])
  await write('')
  await press('Escape')
  await waitFor(() => expect(server.of(`POST ${at}/cancel`)).toHaveLength(1))
})

describe('a message that begins with a slash', () => {
  const commands = () => screen.queryByRole('listbox', { name: "The agent's commands" })
  const names = () =>
    within(commands() ?? document.createElement('div'))
      .queryAllByRole('option')
      .map(({ textContent }) => /^\/[a-z-]+/.exec(textContent)?.[0])
  const active = async () =>
    document.getElementById((await composer()).getAttribute('aria-activedescendant') ?? '')
  const begin = async (text: string, isOffered = false) => {
    ;(await composer()).focus()
    await write(text)
    // The list is a chunk of its own.
    if (isOffered) await screen.findByRole('listbox')
  }

  test('is offered the agent’s commands, with help, which the keys walk, choose and close', async () => {
    const server = await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    await begin('/', true)
    expect(names()).toEqual(slashCommandsOf('claude').map(({ name }) => `/${name}`))
    expect((await active())?.textContent).toContain('Sum up the conversation to make room')
    await press('ArrowUp')
    expect((await active())?.textContent).toMatch(/^\/init/)
    await press('ArrowDown')
    await write('/co')
    expect(names()).toEqual(['/compact', '/context', '/cost', '/code-review'])
    await press('ArrowDown')
    await press('ArrowDown')
    await press('Enter')
    expect(await composer()).toHaveProperty('value', '/cost')
    expect(commands()).toBeNull()
    expect(server.of(`POST ${at}/chat`)).toEqual([])
    await press('Enter')
    await waitFor(() => expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({ message: '/cost' }))
  })

  test('has the list closed by Escape until it is another, and one that is whole is sent at once', async () => {
    const server = await open({}, { [`POST ${at}/chat`]: () => json(201, taken()) })
    await begin('/co', true)
    await press('Escape')
    expect(commands()).toBeNull()
    expect(await composer()).toHaveProperty('value', '/co')
    await write('/com')
    fireEvent.click(within(commands() ?? document.body).getByRole('option'))
    expect(await composer()).toHaveProperty('value', '/compact ')
    await write('/compact')
    await press('Enter')
    await waitFor(() => expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({ message: '/compact' }))
  })

  test.each(['/usr/bin', 'a /', '/cost now', '/nothing'])(
    'as in %j, or is none, is left alone',
    async (text) => {
      await open()
      await begin(text)
      expect(commands()).toBeNull()
      expect((await composer()).getAttribute('aria-activedescendant')).toBeNull()
    },
  )

  test('has no list where it is a command of the person, or of an agent that has none', async () => {
    await open()
    fireEvent.click(await screen.findByRole('button', { name: 'Command mode' }))
    await begin('/')
    expect(commands()).toBeNull()
    cleanup()
    await open({ agent: 'cursor' })
    await begin('/')
    expect(commands()).toBeNull()
  })

  const ability = (over: object) => ({
    kind: 'command',
    name: 'ship',
    description: 'Ships it',
    argument: null,
    from: 'repository',
    replaces: null,
    ...over,
  })
  const abilities = [
    ability({ replaces: 'person' }),
    ability({ kind: 'skill', name: 'docs:check', description: '' }),
    ability({ kind: 'subagent', name: 'checker', description: 'Checks the work' }),
  ]
  const offers = { [`GET ${at}/abilities`]: { abilities, notes: [] } }

  test('is offered what the repository and the person have, and says whose it is', async () => {
    await open({}, offers)
    await begin('/sh', true)
    await waitFor(() => expect(names()).toEqual(['/ship']))
    expect((await active())?.textContent).toContain('Ships it · From the repository, instead of your own')
    await write('/docs:')
    await waitFor(() => expect(screen.getAllByRole('option')).toHaveLength(1))
    await press('Tab')
    expect(await composer()).toHaveProperty('value', '/docs:check ')
  })

  test.each(['/', 'Look at @'])('says after %s which files were left out', async (typed) => {
    const notes = ['The agent does not get these files: .claude/commands/leak.md.']
    await open(
      {},
      { ...offers, [`GET ${at}/abilities`]: { abilities, notes }, [`GET ${at}/files`]: { files: [] } },
    )
    await begin(typed, true)
    await screen.findByRole('listbox')
    expect(await screen.findByText(notes[0] ?? '')).toBeTruthy()
  })

  test('names a skill as the agent takes it', async () => {
    await open({ agent: 'codex' }, offers)
    await begin('/ship', true)
    await waitFor(() => expect(names()).toEqual(['/ship']))
    await press('Enter')
    expect(await composer()).toHaveProperty('value', '$ship ')
  })

  test('is offered subagents and files after an @, which are searched on the server', async () => {
    const server = await open(
      {},
      {
        ...offers,
        [`GET ${at}/files`]: ({ query }: { readonly query: { readonly search?: string } }) => ({
          files: query.search === 'ch' ? ['src/check.ts', 'a chart.md'] : [],
        }),
      },
    )
    await begin('Look at @ch')
    const list = await screen.findByRole('listbox', { name: 'Files and subagents' })
    await waitFor(() => expect(within(list).getAllByRole('option')).toHaveLength(3))
    expect((await active())?.textContent).toContain('@checkerSubagent: Checks the work')
    await press('ArrowDown')
    await press('Enter')
    expect(await composer()).toHaveProperty('value', 'Look at @src/check.ts ')
    expect(screen.queryByRole('listbox')).toBeNull()
    expect(server.of(`GET ${at}/files`).at(-1)?.query).toEqual({ search: 'ch' })
    await write('mail me@ch')
    expect(screen.queryByRole('listbox')).toBeNull()
  })
})
