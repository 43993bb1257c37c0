// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test, vi } from 'vitest'
import type { ShownQuestion } from '#domain/api/questions.schema.ts'
import { executionId, userId } from '../../../../../tests/domain/ids.ts'
import { moment } from '../../../../../tests/domain/recorded.ts'
import { openPage, openTaskAnswers } from '../../../../../tests/client/page.tsx'
import { optionOf, questionOf, taskOf } from '../../../../../tests/client/samples.ts'
import { json, refusal } from '../../../../../tests/client/server.ts'

const task = taskOf(1, {
  status: 'running',
  progress: 20,
  waitingFor: 'question',
  execution: {
    id: executionId(1),
    kind: 'turn',
    turn: 1,
    requestedAt: moment,
    startedAt: moment,
    endedAt: null,
    steps: [],
    cancelRequested: false,
  },
})
const at = `/tasks/${task.id}`
const answerOf = (question: ShownQuestion) => `POST ${at}/questions/${question.id}/answer`
const answered = (question: ShownQuestion, over: Partial<ShownQuestion> = {}): ShownQuestion => ({
  ...question,
  status: 'answered',
  answer: { choices: ['blue'], text: '', values: [] },
  answeredAt: moment,
  answeredBy: userId(1),
  delivery: 'agent',
  isDelivered: true,
  version: 50,
  ...over,
})

/** Opens the task with these questions; `answers` are the other answers of the server. */
function open(questions: readonly ShownQuestion[], answers = {}) {
  const waitingFor = questions.find(({ status }) => status === 'open')?.kind ?? null
  const opened = { ...task, waitingFor }
  return openPage(at, {
    answers: { ...openTaskAnswers(opened), [`GET ${at}/questions`]: { questions, version: 1 }, ...answers },
  })
}
const card = async (name: RegExp) => within(await screen.findByRole('article', { name }))

describe('a question', () => {
  test('is announced at the composer and in the header, which lead to it', async () => {
    open([questionOf(1)])
    const bar = within(await screen.findByRole('region', { name: 'The agent waits for you' }))
    expect(bar.getByText('Question 1?')).toBeTruthy()
    expect(screen.getAllByText('Waiting for you').length).toBeGreaterThan(1)
    fireEvent.click(bar.getByRole('button', { name: 'Answer' }))
    await waitFor(() =>
      expect(document.activeElement?.getAttribute('aria-label')).toBe('Question: Question 1?'),
    )
  })

  test('is answered by keys: a number chooses, Ctrl and Enter send', async () => {
    const question = questionOf(1)
    const server = open([question], {
      [answerOf(question)]: { question: answered(question), position: '200' },
    })
    const article = await screen.findByRole('article', { name: 'Question: Question 1?' })
    fireEvent.keyDown(article, { key: '2' })
    expect(within(article).getByRole<HTMLInputElement>('radio', { name: /^Blue/ }).checked).toBe(true)
    fireEvent.keyDown(document.activeElement ?? article, { key: 'ArrowUp' })
    expect(within(article).getByRole<HTMLInputElement>('radio', { name: /^Red/ }).checked).toBe(true)
    fireEvent.keyDown(article, { key: '2' })
    fireEvent.keyDown(article, { key: 'Enter', ctrlKey: true })
    await within(article).findByText(/Answered by Ada Lovelace/)
    expect(server.of(answerOf(question)).map(({ body }) => body)).toEqual([
      { answer: { choices: ['blue'], text: '' } },
    ])
    expect(within(article).getByText('Blue')).toBeTruthy()
    expect(within(article).getByText(/The agent got it while it waited/)).toBeTruthy()
    expect(document.activeElement).toBe(article)
    // The task no longer waits for anything.
    expect(screen.queryByRole('region', { name: 'The agent waits for you' })).toBeNull()
    expect(screen.getAllByText('Running').length).toBeGreaterThan(0)
  })

  test('is answered with words alone after a chosen option is taken back, by a click or by its number', async () => {
    const question = questionOf(1)
    const server = open([question], {
      [answerOf(question)]: { question: answered(question), position: '200' },
    })
    const part = await card(/^Question: /)
    const red = part.getByRole<HTMLInputElement>('radio', { name: /^Red/ })
    for (const press of [() => fireEvent.click(red), () => fireEvent.keyDown(red, { key: '1' })]) {
      press()
      expect(red.checked).toBe(true)
      press()
      expect(red.checked).toBe(false)
    }
    fireEvent.change(part.getByRole('textbox'), { target: { value: 'Green' } })
    fireEvent.click(part.getByRole('button', { name: /^Send Answer/ }))
    await waitFor(() =>
      expect(server.of(answerOf(question))[0]?.body).toEqual({ answer: { choices: [], text: 'Green' } }),
    )
  })

  test('keeps its answer while the arrow keys scroll a part of it, or move to what is chosen', async () => {
    const preview = Array.from({ length: 40 }, (_, line) => `Line ${line}`).join('\n\n')
    open([questionOf(1, { options: [optionOf('Red', { preview }), optionOf('Blue')] })])
    const article = await screen.findByRole('article', { name: 'Question: Question 1?' })
    const red = within(article).getByRole<HTMLInputElement>('radio', { name: /^Red/ })
    fireEvent.click(red)
    const scrolled = (await within(article).findByText('Line 7')).closest('.overflow-auto')
    if (scrolled === null) throw new Error('Nothing scrolls.')
    // A key whose default is not prevented scrolls.
    expect(fireEvent.keyDown(scrolled, { key: 'ArrowUp' })).toBe(true)
    expect(red.checked).toBe(true)
    expect(fireEvent.keyDown(article, { key: 'ArrowDown' })).toBe(false)
    expect(document.activeElement).toBe(red)
    expect(red.checked).toBe(true)
  })

  test('takes several options and words; a preview belongs to what is chosen', async () => {
    const options = [optionOf('Red', { preview: 'A **red** wall' }), optionOf('Blue')]
    const question = questionOf(1, { multiple: true, options })
    const server = open([question], {
      [answerOf(question)]: { question: answered(question), position: '200' },
    })
    const part = await card(/^Question: /)
    expect(screen.queryByText(/wall$/)).toBeNull()
    for (const name of [/^Red/, /^Blue/]) fireEvent.click(part.getByRole('checkbox', { name }))
    expect(await part.findByText(/wall$/)).toBeTruthy()
    fireEvent.change(part.getByRole('textbox'), { target: { value: 'Not green' } })
    fireEvent.click(part.getByRole('button', { name: /^Send Answer/ }))
    await waitFor(() => expect(server.of(answerOf(question))).toHaveLength(1))
    expect(server.of(answerOf(question))[0]?.body).toEqual({
      answer: { choices: ['red', 'blue'], text: 'Not green' },
    })
  })

  test('that could not be sent says why and keeps what was written, also for the next visit', async () => {
    const question = questionOf(1, { options: [] })
    const server = open([question], { [answerOf(question)]: refusal(503, 'A part is away.') })
    const part = await card(/^Question: /)
    fireEvent.change(part.getByRole('textbox'), { target: { value: 'A long thought' } })
    fireEvent.click(part.getByRole('button', { name: /^Send Answer/ }))
    expect((await part.findByRole('alert')).textContent).toContain('A part is away.')
    expect(part.getByRole<HTMLTextAreaElement>('textbox').value).toBe('A long thought')
    await waitFor(() => expect(localStorage.getItem('answerDrafts')).toContain('A long thought'))
    server.answer({
      [answerOf(question)]: {
        question: answered(question, { answer: { choices: [], text: 'A long thought', values: [] } }),
        position: '200',
      },
    })
    fireEvent.click(part.getByRole('button', { name: /^Send Answer/ }))
    await part.findByText(/Answered by/)
    await waitFor(() => expect(localStorage.getItem('answerDrafts')).toBe('{}'))
  })

  test('that somebody answered first shows their answer, and what was not sent', async () => {
    const question = questionOf(1)
    const theirs = answered(question, { delivery: 'next_turn', isDelivered: false })
    const server = open([question], {
      [answerOf(question)]: () => refusal(409, 'It was answered.', 'already_answered'),
    })
    const part = await card(/^Question: /)
    server.answer({ [`GET ${at}/questions`]: { questions: [theirs], version: 50 } })
    fireEvent.click(part.getByRole('radio', { name: /^Red/ }))
    fireEvent.change(part.getByRole('textbox'), { target: { value: 'As the sun' } })
    fireEvent.click(part.getByRole('button', { name: /^Send Answer/ }))
    expect(await part.findByText(/This was answered elsewhere/)).toBeTruthy()
    expect(part.getByText('Blue')).toBeTruthy()
    expect(part.getByText(/with its next turn/)).toBeTruthy()
    expect(part.getByText('As the sun')).toBeTruthy()
    expect(part.queryByRole('alert')).toBeNull()
    fireEvent.click(part.getByRole('button', { name: 'Discard' }))
    expect(part.queryByText('As the sun')).toBeNull()
  })

  test('stands beside others of the same request, and each is answered by itself', async () => {
    const [one, two] = [questionOf(1), questionOf(2)]
    open([one, two], { [answerOf(two)]: { question: answered(two), position: '200' } })
    expect(await screen.findByText('2 questions of the agent are open.')).toBeTruthy()
    const second = await card(/Question 2/)
    fireEvent.click(second.getByRole('radio', { name: /^Blue/ }))
    fireEvent.click(second.getByRole('button', { name: /^Send Answer/ }))
    await second.findByText(/Answered by/)
    expect((await card(/Question 1/)).getByRole('button', { name: /^Send Answer/ })).toBeTruthy()
    const bar = within(screen.getByRole('region', { name: 'The agent waits for you' }))
    expect(bar.getByText('Question 1?')).toBeTruthy()
  })

  test('that was withdrawn, or whose words were erased, says so', async () => {
    const erasedOne = { title: null, body: null, options: [], answer: null }
    open([questionOf(1, { status: 'withdrawn' }), answered(questionOf(2), erasedOne)])
    expect(await screen.findByText(/^Withdrawn: the agent no longer waits/)).toBeTruthy()
    expect(screen.getByText('This question was erased.')).toBeTruthy()
    expect(screen.getByText('The answer was erased.')).toBeTruthy()
  })
})

describe('a plan', () => {
  const plan = questionOf(1, {
    kind: 'plan',
    title: 'Add a date',
    body: '# Steps\n\nRead the file.\n\nDelete the rest.\n\n<b>HTML</b>',
    options: ['approve', 'approve_and_ask', 'send_back'].map((value) => optionOf(value, { value })),
  })
  const taken = (choice: string, text = '') => ({
    [answerOf(plan)]: {
      question: answered(plan, { answer: { choices: [choice], text, values: [] } }),
      position: '200',
    },
  })

  test('is approved as it is', async () => {
    const server = open([plan], taken('approve_and_ask'))
    const part = await card(/^Plan to approve/)
    expect(part.getByText('<b>HTML</b>')).toBeTruthy()
    fireEvent.click(part.getByRole('button', { name: /^Approve and Ask/ }))
    expect(await part.findByText('Approved, asking before each change')).toBeTruthy()
    expect(server.of(answerOf(plan))[0]?.body).toEqual({ answer: { choices: ['approve_and_ask'] } })
    expect(part.queryByText('Read the file.')).toBeNull()
    fireEvent.click(part.getByRole('button', { name: 'Show the plan' }))
    expect(await part.findByText('Read the file.')).toBeTruthy()
  })

  test('is sent back with a comment on a passage, which stays for the next visit', async () => {
    vi.spyOn(document, 'getSelection').mockReturnValue(null)
    const server = open([plan], taken('send_back', '> Delete the rest.\n\nKeep it'))
    const part = await card(/^Plan to approve/)
    const passage = (await part.findByText('Delete the rest.')).closest('[data-passage]')
    if (!(passage instanceof HTMLElement)) throw new Error('No passage')
    fireEvent.click(within(passage).getByRole('button', { name: 'Comment on this passage' }))
    expect(part.getByRole<HTMLButtonElement>('button', { name: /^Approve$/ }).disabled).toBe(true)
    const box = part.getByRole('textbox', { name: 'Your comment' })
    expect(document.activeElement).toBe(box)
    fireEvent.change(box, { target: { value: 'Keep it' } })
    fireEvent.keyDown(box, { key: 'Enter', metaKey: true })
    expect(part.getByRole('region', { name: '1 comment to send back' })).toBeTruthy()
    expect(part.getByText(/Approving takes the plan as it is/)).toBeTruthy()
    await waitFor(() => expect(localStorage.getItem('answerDrafts')).toContain('Keep it'))
    fireEvent.click(part.getByRole('button', { name: /^Send Back/ }))
    expect(await part.findByText('Sent back')).toBeTruthy()
    expect(server.of(answerOf(plan))[0]?.body).toEqual({
      answer: { choices: ['send_back'], text: '> Delete the rest.\n\nKeep it' },
    })
    vi.restoreAllMocks()
  })

  test('can be commented on where text is selected', async () => {
    open([plan])
    const part = await card(/^Plan to approve/)
    // Until the Markdown chunk is loaded, the text is shown as it was written.
    await waitFor(() => expect(part.getByText('Read the file.').closest('.markdown')).not.toBeNull())
    const text = part.getByText('Read the file.').firstChild
    if (text === null) throw new Error('No text')
    Range.prototype.getClientRects = () => [new DOMRect(0, 0, 10, 10)] as unknown as DOMRectList
    act(() => {
      document.getSelection()?.setBaseAndExtent(text, 0, text, 4)
      document.dispatchEvent(new Event('selectionchange'))
    })
    fireEvent.click(await part.findByRole('button', { name: 'Comment' }))
    expect(part.getByText('Read')).toBeTruthy()
    fireEvent.keyDown(part.getByRole('textbox', { name: 'Your comment' }), { key: 'Escape' })
    expect(part.queryByRole('textbox', { name: 'Your comment' })).toBeNull()
  })

  test('is only sent back with words: without them, the button leads to their box', async () => {
    const server = open([plan])
    const part = await card(/^Plan to approve/)
    fireEvent.click(part.getByRole('button', { name: /^Send Back/ }))
    expect(document.activeElement?.getAttribute('aria-label')).toBe('What should change')
    expect(server.of(answerOf(plan))).toEqual([])
  })
})

test('a permission shows the exact command, and is denied with a reason', async () => {
  const options = ['allow', 'allow_in_task', 'deny'].map((value) => optionOf(value, { value }))
  const question = questionOf(1, {
    kind: 'permission',
    title: 'Run a command',
    body: '```sh\nrm -r *.log\n```',
    rules: ['Bash(rm:*)'],
    options,
  })
  const server = open([question], {
    [answerOf(question)]: {
      question: answered(question, { answer: { choices: ['deny'], text: 'Keep them', values: [] } }),
      position: '200',
    },
  })
  const part = await card(/^Permission/)
  expect(part.getByRole('region', { name: /^What it wants to do/ }).textContent).toBe('rm -r *.log')
  expect(part.getByText('Bash(rm:*)')).toBeTruthy()
  fireEvent.change(part.getByRole('textbox', { name: /^Reason/ }), { target: { value: 'Keep them' } })
  // A number key only focuses a button, because pressing the button acts at once.
  fireEvent.keyDown(part.getByRole('button', { name: /^Allow/ }), { key: '3' })
  expect(server.of(answerOf(question))).toEqual([])
  expect(document.activeElement?.textContent).toMatch(/^Deny/)
  fireEvent.click(part.getByRole('button', { name: /^Deny/ }))
  expect(await part.findByText('Denied')).toBeTruthy()
  expect(part.getByText('Keep them')).toBeTruthy()
  expect(server.of(answerOf(question))[0]?.body).toEqual({ answer: { choices: ['deny'], text: 'Keep them' } })
})

test('a form is sent once its fields fit', async () => {
  const base = { description: '', choices: [], required: false } as const
  const fields = [
    { ...base, name: 'host', label: 'Host', type: 'text', required: true },
    { ...base, name: 'port', label: 'Port', type: 'integer' },
    { ...base, name: 'tls', label: 'Encrypted', type: 'boolean' },
    { ...base, name: 'kind', label: 'Kind', type: 'choice', choices: ['small', 'large'], required: true },
  ] as const
  const question = questionOf(1, {
    kind: 'form',
    title: 'Where?',
    options: [optionOf('Decline')],
    fields: fields.map((field) => ({ ...field, choices: [...field.choices] })),
    allowsText: false,
  })
  const server = open([question], {
    [answerOf(question)]: () => json(200, { question: answered(question), position: '200' }),
  })
  const part = await card(/^Values to fill in/)
  fireEvent.change(part.getByRole('textbox', { name: 'Port' }), { target: { value: 'x' } })
  fireEvent.click(part.getByRole('button', { name: /^Send Values/ }))
  const faults = ['Fill in Host.', 'Port has to be a whole number.', 'Fill in Kind.']
  expect(part.getAllByRole('alert').map(({ textContent }) => textContent)).toEqual(faults)
  fireEvent.change(part.getByRole('textbox', { name: 'Host (required)' }), { target: { value: 'db' } })
  fireEvent.change(part.getByRole('textbox', { name: 'Port' }), { target: { value: '5432' } })
  fireEvent.click(part.getByRole('checkbox', { name: 'Encrypted' }))
  fireEvent.change(part.getByRole('combobox', { name: 'Kind (required)' }), { target: { value: 'large' } })
  fireEvent.click(part.getByRole('button', { name: /^Send Values/ }))
  await waitFor(() => expect(server.of(answerOf(question))).toHaveLength(1))
  expect(server.of(answerOf(question))[0]?.body).toEqual({
    answer: {
      values: [
        { name: 'host', value: 'db' },
        { name: 'port', value: '5432' },
        { name: 'tls', value: 'true' },
        { name: 'kind', value: 'large' },
      ],
    },
  })
})

test('questions that could not be read are told where they are waited for, with a way to try again', async () => {
  const server = open([questionOf(1)], { [`GET ${at}/questions`]: () => refusal(500) })
  const note = await screen.findByText(/its question couldn't be loaded/)
  server.answer({ [`GET ${at}/questions`]: { questions: [questionOf(1)], version: 1 } })
  const alert = note.closest('[role=alert]')
  if (!(alert instanceof HTMLElement)) throw new Error('No alert')
  fireEvent.click(within(alert).getByRole('button', { name: 'Try Again' }))
  expect(await card(/^Question: /)).toBeTruthy()
})
