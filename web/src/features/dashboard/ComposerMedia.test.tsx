// @vitest-environment jsdom
import { act, createEvent, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { projectOf, taskOf } from '../../../../tests/client/samples.ts'
import { json, refusal, type Answers } from '../../../../tests/client/server.ts'
import { fakeUploads, uploadedOf } from '../../../../tests/client/uploads.ts'
import { draftDescription, recall, remember } from '../../state/persisted.ts'

// Loads the page before the first test waits for it: on a busy machine that takes a while.
beforeAll(() => import('./Dashboard.tsx'), 60_000)

const project = projectOf(1)
const answers: Answers = {
  'GET /projects': { projects: [project], next: null },
  [`GET /projects/${project.id}/branches`]: { branches: [{ name: 'trunk' }] },
  'POST /tasks': () => json(201, { task: taskOf(1), position: '9' }),
}
const png = (name: string) => new File(['pixels'], name, { type: 'image/png' })
const description = () => screen.findByRole('textbox', { name: 'Task description' })
const start = () => screen.getByRole('button', { name: /Start Coding/ })
const attached = () => screen.queryByRole('list', { name: 'Attached images' })
const names = () =>
  within(attached() ?? document.createElement('ul'))
    .queryAllByRole('listitem')
    .map((item) => item.querySelector('p')?.textContent)

/** The dashboard with everything that a task needs filled in, so that only Start has to be pressed. */
async function open(over: Answers = {}) {
  const uploads = fakeUploads()
  const server = openPage('/dashboard', { answers: { ...answers, ...over } })
  fireEvent.change(await description(), { target: { value: 'Count the lines' } })
  fireEvent.click(await screen.findByRole('combobox', { name: /^Project:/ }))
  fireEvent.click(await screen.findByRole('option', { name: 'ada/engine-1' }))
  await waitFor(() => expect(start()).toHaveProperty('disabled', false))
  return { uploads, server }
}
function pick(...files: readonly File[]) {
  const input = document.querySelector('input[type=file]')
  if (input === null) throw new Error('There is no file picker.')
  fireEvent.change(input, { target: { files } })
}
/** The data of a browser's drop or paste event with these files. */
const transfer = (types: readonly string[], ...files: readonly File[]) => ({ types, files, dropEffect: '' })

// Holds screens 2.28, 2.31.
test('the composer has its text, pickers, an image button, a microphone, and Start Coding, which says Creating... while it does', async () => {
  let created: (answer: Response) => void = () => undefined
  const creating = new Promise<Response>((resolve) => {
    created = resolve
  })
  await open({ 'POST /tasks': () => creating })
  expect((await description()).getAttribute('placeholder')).toBe(
    'Describe a task (or use voice recording with the microphone button)',
  )
  expect(screen.getByRole('combobox', { name: /^Agent:/ })).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Attach images, up to 5' })).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Start voice recording' })).toBeTruthy()
  const button = start()
  fireEvent.click(button)
  await waitFor(() => expect(button.getAttribute('aria-busy')).toBe('true'))
  expect(within(button).getByText('Creating...').closest('[aria-hidden]')).toBeNull()
  created(json(201, { task: taskOf(1), position: '9' }))
  await screen.findByText('Task created successfully')
})

describe('while a task is created', () => {
  async function creating(prepare: (uploads: ReturnType<typeof fakeUploads>) => Promise<void> | void) {
    let created: (answer: Response) => void = () => undefined
    const answer = new Promise<Response>((resolve) => {
      created = resolve
    })
    const { uploads } = await open({ 'POST /tasks': () => answer })
    await prepare(uploads)
    const button = start()
    fireEvent.click(button)
    await waitFor(() => expect(button.getAttribute('aria-busy')).toBe('true'))
    return () => created(json(201, { task: taskOf(1), position: '9' }))
  }

  test('what is written and attached stays', async () => {
    const created = await creating(async (uploads) => {
      pick(png('a.png'))
      uploads.made[0]?.answer(201, uploadedOf('image-a', 'a.png'))
      await waitFor(() => expect(screen.queryByRole('progressbar')).toBeNull())
    })
    fireEvent.change(await description(), { target: { value: 'Count the words' } })
    pick(png('b.png'))
    created()
    await screen.findByText('Task created successfully')
    expect(names()).toEqual(['b.png'])
    expect(await description()).toHaveProperty('value', 'Count the words')
    expect(recall(draftDescription)).toBe('Count the words')
  })

  test('what is sent goes, and what is written in another browser tab stays there', async () => {
    const created = await creating(() => remember(draftDescription, 'Count the words'))
    const stores = vi.spyOn(Storage.prototype, 'setItem')
    onTestFinished(() => stores.mockRestore())
    created()
    await screen.findByText('Task created successfully')
    expect(await description()).toHaveProperty('value', '')
    expect(recall(draftDescription)).toBe('Count the words')
    expect(stores).not.toHaveBeenCalledWith(draftDescription.key, expect.anything())
  })

  test('a composer that is left and opened again shows the draft until the task has it', async () => {
    const created = await creating(() => undefined)
    fireEvent.click(screen.getByRole('link', { name: 'Projects' }))
    await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Task description' })).toBeNull())
    fireEvent.click(screen.getByRole('link', { name: 'Dashboard' }))
    expect(await description()).toHaveProperty('value', 'Count the lines')
    created()
    await screen.findByText('Task created successfully')
    expect(await description()).toHaveProperty('value', '')
    expect(recall(draftDescription)).toBe('')
  })
})

describe('an image of a task', () => {
  // Holds contract 4.12a, 7.34b.
  test('goes from uploading, with its percent, to completed, and is sent under its id', async () => {
    const { uploads, server } = await open()
    pick(png('plan.png'))
    const [upload] = uploads.made
    expect(upload).toMatchObject({
      address: '/api/upload/image',
      headers: { authorization: 'Bearer token-of-ada', 'idempotency-key': expect.stringMatching(/./) },
    })
    expect(upload?.form.get('image')).toMatchObject({ name: 'plan.png' })
    for (const percent of [0, 40, 100]) {
      act(() => upload?.progress(percent))
      const bar = screen.getByRole('progressbar', { name: 'Uploading plan.png' })
      expect(bar.getAttribute('aria-valuenow')).toBe(String(percent))
    }
    upload?.answer(201, uploadedOf('image-1', 'plan.png'))
    await waitFor(() => expect(screen.queryByRole('progressbar')).toBeNull())
    fireEvent.click(start())
    await screen.findByText('Task created successfully')
    expect(server.of('POST /tasks')[0]?.body).toMatchObject({ images: ['image-1'] })
    expect(attached()).toBeNull()
    expect(uploads.held.size).toBe(0)
  })

  // Holds contract 4.12b, 8.15.
  test('that failed says Upload failed with the reason, can be tried again, and is not sent until it is there', async () => {
    const { uploads, server } = await open({ 'POST /tasks': () => refusal(429) })
    pick(png('a.png'), png('b.png'))
    uploads.made[0]?.answer(400, { error: 'This image is damaged.', code: 'invalid_input' })
    uploads.made[1]?.answer(201, uploadedOf('image-b', 'b.png'))
    expect(await screen.findByText('Upload failed')).toBeTruthy()
    expect(screen.getByText('This image is damaged.')).toBeTruthy()
    expect(screen.getByText('Failed images are not sent.')).toBeTruthy()
    fireEvent.click(start())
    await waitFor(() => expect(server.of('POST /tasks')[0]?.body).toMatchObject({ images: ['image-b'] }))

    // The server refused the task, so nothing is lost. The image comes before the other, in the order in which they were attached.
    fireEvent.click(screen.getByRole('button', { name: 'Upload a.png again' }))
    uploads.made[2]?.answer(201, uploadedOf('image-a', 'a.png'))
    await waitFor(() => expect(screen.queryByText('Upload failed')).toBeNull())
    expect(uploads.made[2]?.headers).toEqual(uploads.made[0]?.headers)
    fireEvent.click(start())
    await waitFor(() =>
      expect(server.of('POST /tasks')[1]?.body).toMatchObject({ images: ['image-a', 'image-b'] }),
    )
  })

  test('that is under way is waited for; one that fails then stops it', async () => {
    const { uploads, server } = await open()
    pick(png('a.png'))
    fireEvent.click(start())
    expect(await screen.findByText('Sending once the images are uploaded.')).toBeTruthy()
    uploads.made[0]?.fail()
    expect(await screen.findByText('An image failed to upload. Retry or remove it.')).toBeTruthy()
    expect(server.of('POST /tasks')).toEqual([])

    fireEvent.click(screen.getByRole('button', { name: 'Upload a.png again' }))
    fireEvent.click(start())
    uploads.made[1]?.answer(201, uploadedOf('image-a', 'a.png'))
    await screen.findByText('Task created successfully')
    expect(server.of('POST /tasks').map(({ body }) => body)).toMatchObject([{ images: ['image-a'] }])
  })

  // Holds contract 5.8a.
  test('may be one of five, as the button says; what is too many, too large or no image is said', async () => {
    const { uploads } = await open()
    expect(screen.getByRole('button', { name: 'Attach images, up to 5' })).toBeTruthy()
    pick(...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => png(`${name}.png`)))
    expect(names()).toHaveLength(5)
    expect(screen.getByText('Up to 5 images. 1 image was not attached.')).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Remove b.png' }))
    expect(names()).toEqual(['a.png', 'c.png', 'd.png', 'e.png'])
    expect(uploads.made[1]?.broken).toBe(true)
    expect(uploads.held.size).toBe(4)
    pick(new File(['x'], 'a.pdf', { type: 'application/pdf' }))
    expect(screen.getByText('Only JPEG, PNG, GIF, and WebP images are allowed')).toBeTruthy()
    pick(Object.defineProperty(png('huge.png'), 'size', { value: 10 * 1_048_576 + 1 }))
    expect(screen.getByText('Image size must be less than 10MB')).toBeTruthy()
    expect(names()).toHaveLength(4)
  })

  test('can be dropped on the whole composer, which says so, and pasted; text is pasted as text', async () => {
    await open()
    const box = await description()
    const dragged = { dataTransfer: transfer(['Files'], png('dropped.png')) }
    fireEvent.dragEnter(start(), dragged)
    expect(screen.getByText('Drop images here, up to 5')).toBeTruthy()
    fireEvent.drop(start(), dragged)
    expect(screen.queryByText('Drop images here, up to 5')).toBeNull()
    fireEvent.paste(box, { clipboardData: transfer(['Files'], png('pasted.png')) })
    const text = createEvent.paste(box, {
      clipboardData: transfer(['text/plain', 'Files'], png('picture of the text.png')),
    })
    fireEvent(box, text)
    expect(text.defaultPrevented).toBe(false)
    expect(names()).toEqual(['dropped.png', 'pasted.png'])
  })

  test('that is dropped beside the composer does not take the place of the page', async () => {
    await open()
    const drop = createEvent.drop(document.body, { dataTransfer: transfer(['Files'], png('a.png')) })
    fireEvent(document.body, drop)
    expect(drop.defaultPrevented).toBe(true)
    expect(names()).toEqual([])
  })
})

describe('voice', () => {
  /** A browser's speech recognition, which hears what the test says. */
  class Recognition extends EventTarget {
    static last: Recognition | null = null
    start = vi.fn<() => void>(() => void this.dispatchEvent(new Event('start')))
    stop = vi.fn<() => void>(() => void this.dispatchEvent(new Event('end')))
    abort = vi.fn<() => void>()
    constructor() {
      super()
      Recognition.last = this
    }
    hears(transcript: string, isFinal: boolean) {
      const results = [Object.assign([{ transcript }], { isFinal })]
      act(() => {
        this.dispatchEvent(Object.assign(new Event('result'), { resultIndex: 0, results }))
      })
    }
  }
  function listening() {
    vi.stubGlobal('webkitSpeechRecognition', Recognition)
    onTestFinished(() => void vi.unstubAllGlobals())
  }
  const toggle = () => fireEvent.keyDown(document.body, { key: 'M', ctrlKey: true, shiftKey: true })

  // Holds contract 8.20d; screens 2.32.
  test('is toggled by Ctrl+Shift+M, adds final words to what is typed, and Escape stops it', async () => {
    listening()
    await open()
    toggle()
    expect(await screen.findByRole('button', { name: 'Stop voice recording' })).toBeTruthy()
    Recognition.last?.hears('in every', true)
    Recognition.last?.hears('file', false)
    expect(await description()).toHaveProperty('value', 'Count the lines in every')
    expect(screen.getByText(/^\s*file$/)).toBeTruthy()
    fireEvent.change(await description(), { target: { value: 'Count all lines in every' } })
    fireEvent.keyDown(await description(), { key: 'Escape' })
    expect(await screen.findByText('Voice recording stopped. Your text has been saved.')).toBeTruthy()
    expect(await description()).toHaveProperty('value', 'Count all lines in every file')
    expect(localStorage.getItem('draftDescription')).toBe('Count all lines in every file')
    toggle()
    await screen.findByRole('button', { name: 'Stop voice recording' })
    toggle()
    expect(await screen.findByRole('button', { name: 'Start voice recording' })).toBeTruthy()
  })

  test('ends when the task is started, which has all that was heard', async () => {
    listening()
    const { server } = await open()
    toggle()
    await screen.findByRole('button', { name: 'Stop voice recording' })
    Recognition.last?.hears('in every file', false)
    fireEvent.click(start())
    await screen.findByText('Task created successfully')
    expect(server.of('POST /tasks')[0]?.body).toMatchObject({ description: 'Count the lines in every file' })
    expect(screen.getByRole('button', { name: 'Start voice recording' })).toBeTruthy()
    expect(await description()).toHaveProperty('value', '')
  })

  test('that the browser does not know is said', async () => {
    await open()
    fireEvent.click(screen.getByRole('button', { name: 'Start voice recording' }))
    expect(
      await screen.findByText(
        'Voice recognition is not supported in your browser. Please use Chrome, Safari, or Edge for the best experience.',
      ),
    ).toBeTruthy()
  })
})
