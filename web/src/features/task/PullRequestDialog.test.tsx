// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { openPage, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { diffOf, taskOf } from '../../../../tests/client/samples.ts'
import { refusal, type Answers } from '../../../../tests/client/server.ts'

const at = `/tasks/${taskOf(1).id}`
const url = 'https://code.example/ada/engine-1/pull/7'
const proposal = { title: 'Greet', body: 'As asked.' }
const isThere = { prUrl: url, prNumber: 7 }
const made = { pr: { html_url: url, number: 7 }, task: taskOf(1, { ...isThere, version: 2 }) }

const { tree } = diffOf()

/** Opens the dialog of a task, and waits for the proposal and the changes. */
async function open(over: Partial<Task> = {}, answers: Answers = {}) {
  const task = taskOf(1, over)
  const server = openPage(at, {
    answers: {
      ...openTaskAnswers(task),
      [`GET ${at}/pr`]: { pr: task.prNumber === null ? null : made.pr, proposal, autoUpdate: false },
      [`POST ${at}/pr`]: made,
      ...answers,
    },
  })
  await screen.findByRole('heading', { level: 1, name: 'Task 1' })
  const [button] = screen.getAllByRole('button', { name: / PR$/ })
  if (button) fireEvent.click(button)
  await waitFor(() => expect(titleField()).toHaveProperty('disabled', false))
  return server
}
const titleField = () => screen.getByRole('textbox', { name: 'Title' })
const bodyField = () => screen.getByRole('textbox', { name: 'Description' })
const write = (field: HTMLElement, value: string) => fireEvent.change(field, { target: { value } })
const confirm = async () => {
  // The button has this name once the changes are loaded.
  const button = await screen.findByRole('button', { name: / pull request$/ })
  await waitFor(() => expect(button).toHaveProperty('disabled', false))
  fireEvent.click(button)
}
const sent = async (server: Awaited<ReturnType<typeof open>>): Promise<unknown> => {
  await waitFor(() => expect(server.of(`POST ${at}/pr`)).toHaveLength(1))
  return server.of(`POST ${at}/pr`)[0]?.body
}

describe('a new pull request', () => {
  test('has the proposed words, which a person may change, and its options', async () => {
    const server = await open()
    expect([titleField(), bodyField()]).toMatchObject([{ value: 'Greet' }, { value: 'As asked.' }])
    write(titleField(), ' Greet everybody ')
    write(bodyField(), 'By name.')
    fireEvent.click(screen.getByRole('checkbox', { name: 'Open as a draft' }))
    fireEvent.click(screen.getByRole('checkbox', { name: 'Update after each turn' }))
    await confirm()
    const body = { title: 'Greet everybody', body: 'By name.', draft: true, autoUpdate: true, tree }
    expect(await sent(server)).toEqual(body)
  })

  test('names the files of the agent if the person asks for it', async () => {
    const text = '## Artifacts\n\n- `shot.png`\n- `run.log`'
    const before = { title: 'Greet', body: 'As asked.\n\n## Artifacts\n\n- `older.png`' }
    const answer = { pr: null, proposal: before, autoUpdate: false, artifacts: { count: 2, text } }
    const server = await open({}, { [`GET ${at}/pr`]: answer })
    const box = screen.getByRole('checkbox', { name: 'Add 2 artifacts' })
    expect(box).toHaveProperty('checked', false)
    fireEvent.click(box)
    expect(bodyField()).toHaveProperty('value', `As asked.\n\n${text}`)
    fireEvent.click(box)
    expect(bodyField()).toHaveProperty('value', 'As asked.')
    fireEvent.click(box)
    await confirm()
    expect(await sent(server)).toMatchObject({ body: `As asked.\n\n${text}` })
  })

  test('that was refused says why when it is asked for again', async () => {
    const why = 'Allow git-crypt in the settings of the project, and ask again.'
    await open({}, { [`POST ${at}/pr`]: () => refusal(422, why) })
    await confirm()
    await screen.findByText(why)
    const [button] = screen.getAllByRole('button', { name: 'Create PR' })
    if (button) fireEvent.click(button)
    await waitFor(() => expect(titleField()).toHaveProperty('disabled', false))
    expect(titleField().closest('dialog')?.textContent).toContain(why)
  })

  test('needs a title', async () => {
    await open()
    write(titleField(), '  ')
    expect(screen.getByRole('button', { name: 'Create pull request' })).toHaveProperty('disabled', true)
  })

  test('can be written where nothing can be proposed, and why is told', async () => {
    const server = await open({}, { [`GET ${at}/pr`]: () => refusal(503, 'Not just now.') })
    expect(screen.getByRole('alert').textContent).toBe('Not just now.')
    expect(titleField()).toHaveProperty('value', 'Task 1')
    await confirm()
    expect(await sent(server)).toEqual({ title: 'Task 1', body: '', draft: false, tree })
  })

  test('that was left has its words when it is opened again', async () => {
    await open()
    write(titleField(), 'Greet everybody')
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }))
    const [button] = screen.getAllByRole('button', { name: 'Create PR' })
    if (button) fireEvent.click(button)
    expect(titleField()).toHaveProperty('value', 'Greet everybody')
  })
})

describe('the pull request there is', () => {
  test('keeps its words unless they were changed here, and is no draft again', async () => {
    const server = await open(isThere)
    expect(screen.queryByRole('checkbox', { name: 'Open as a draft' })).toBeNull()
    await confirm()
    expect(await sent(server)).toEqual({ autoUpdate: false, tree })
  })

  test('goes on being updated after each turn where that could not be read', async () => {
    const server = await open(isThere, { [`GET ${at}/pr`]: () => refusal(503, 'Not just now.') })
    await confirm()
    expect(await sent(server)).toEqual({ tree })
  })

  test('gets the words that were written', async () => {
    const server = await open(isThere)
    write(bodyField(), 'And in German.')
    await confirm()
    expect(await sent(server)).toEqual({ title: 'Greet', body: 'And in German.', autoUpdate: false, tree })
  })
})

test('an update that succeeded is not sent again with the next one, and one that was refused is kept', async () => {
  const call = `POST ${at}/pr`
  const server = await open(isThere, { [call]: () => refusal(503, 'Not just now.') })
  const openAgain = async () => {
    const [button] = await screen.findAllByRole('button', { name: 'Update PR' })
    if (button) fireEvent.click(button)
    await waitFor(() => expect(titleField()).toHaveProperty('disabled', false))
  }
  write(bodyField(), 'And in German.')
  await confirm()
  await screen.findAllByText('Not just now.')
  await openAgain()
  expect(bodyField()).toHaveProperty('value', 'And in German.')
  server.answer({ [call]: made })
  await confirm()
  await screen.findByText('Pull request updated successfully')
  await openAgain()
  expect(bodyField()).toHaveProperty('value', 'As asked.')
  await confirm()
  await waitFor(() => expect(server.of(call)).toHaveLength(3))
  expect(server.of(call)[2]?.body).toEqual({ autoUpdate: false, tree })
})

describe('github gap 10: a draft', () => {
  const draft = { state: 'draft', mergedBy: null, mergedAt: null, unreadable: null } as const

  test('is marked ready with its update where that is chosen', async () => {
    const server = await open({ ...isThere, pullRequest: draft })
    fireEvent.click(screen.getByRole('checkbox', { name: 'Mark as ready for review' }))
    await confirm()
    expect(await sent(server)).toEqual({ autoUpdate: false, draft: false, tree })
  })

  test('stays one otherwise', async () => {
    const server = await open({ ...isThere, pullRequest: draft })
    await confirm()
    expect(await sent(server)).toEqual({ autoUpdate: false, tree })
  })

  test('is no choice for a pull request that is ready', async () => {
    await open({ ...isThere, pullRequest: { ...draft, state: 'open' } })
    expect(screen.queryByRole('checkbox', { name: 'Mark as ready for review' })).toBeNull()
  })
})

describe('what was looked at', () => {
  const diffAt = `GET ${at}/git/diff`
  const seen = 'a'.repeat(40)
  const diff = (tree: string | null) => ({ data: diffOf({ tree }) })

  test('finding 2: is what is asked for', async () => {
    const server = await open({}, { [diffAt]: diff(seen) })
    await confirm()
    expect(await sent(server)).toMatchObject({ tree: seen })
  })

  test('repository F5: what it holds beyond what is shown is said before it is opened', async () => {
    const message = '3 more changed files are not listed. A pull request holds all of them.'
    await open({}, { [diffAt]: { data: diffOf({ tree: seen, message }) } })
    expect(await screen.findByText(message)).toBeDefined()
  })

  test('finding 2: that is no more what there is, is told, and the changes are read again', async () => {
    const message = 'The files changed since these changes were recorded.'
    const server = await open(
      {},
      { [diffAt]: diff(seen), [`POST ${at}/pr`]: () => refusal(409, message, 'changes_moved') },
    )
    await confirm()
    expect((await screen.findByText('Review the changes again')).textContent).toBeTruthy()
    expect(screen.getByText(message)).toBeTruthy()
    const reads = server.of(diffAt).length
    const [again] = screen.getAllByRole('button', { name: 'Create PR' })
    if (again) fireEvent.click(again)
    await waitFor(() => expect(server.of(diffAt).length).toBeGreaterThan(reads))
  })

  test('is what there is when the dialog opens, also where the page still shows what was before a command', async () => {
    const old = 'b'.repeat(40)
    const server = openPage(at, {
      answers: {
        ...openTaskAnswers(taskOf(1)),
        [`GET ${at}/pr`]: { pr: null, proposal, autoUpdate: false },
        [`POST ${at}/pr`]: made,
        [diffAt]: diff(old),
      },
    })
    fireEvent.click(await screen.findByRole('tab', { name: /^Code Changes/ }))
    await screen.findByText('No Changes')
    server.answer({ [diffAt]: diff(seen) })
    const [button] = screen.getAllByRole('button', { name: 'Create PR' })
    if (button) fireEvent.click(button)
    await confirm()
    expect(await sent(server)).toMatchObject({ tree: seen })
  })

  test('is asked for by a click also while the changes are read again', async () => {
    const server = await open({}, { [diffAt]: diff(seen) })
    fireEvent.click(screen.getByRole('tab', { name: /^Code Changes/ }))
    await screen.findByText('No Changes')
    server.answer({ [diffAt]: () => new Promise(() => undefined) })
    const reads = server.of(diffAt).length
    fireEvent.click(screen.getByRole('button', { name: 'Refresh' }))
    await waitFor(() => expect(server.of(diffAt)).toHaveLength(reads + 1))
    await confirm()
    expect(await sent(server)).toMatchObject({ tree: seen })
  })

  test('is waited for at first, and the button says so', async () => {
    let answer: (body: unknown) => void = () => undefined
    const asked = new Promise((resolve) => (answer = resolve))
    const server = await open({}, { [diffAt]: asked })
    const button = screen.getByRole('button', { name: 'Reading the changes...' })
    expect(button).toHaveProperty('disabled', true)
    answer(diff(seen))
    await confirm()
    expect(await sent(server)).toMatchObject({ tree: seen })
  })

  test('github 3 (SSO): that is refused for want of a single sign-on has the link to it', async () => {
    const link = 'https://github.com/orgs/acme/sso?authorization_request=A1'
    const refused = () =>
      new Response(JSON.stringify({ error: `Open ${link}, then try again.`, code: 'code_host_refused' }), {
        status: 422,
      })
    await open({}, { [`POST ${at}/pr`]: refused, [diffAt]: diff(seen) })
    await confirm()
    expect((await screen.findByRole('link', { name: link })).getAttribute('href')).toBe(link)
  })

  test('github 3.2: that GitHub asks to wait with is counted down on the button, which cannot be pressed until then', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const limited = () =>
      new Response('{"error":"GitHub asks us to wait until 10:01 UTC.","code":"rate_limited"}', {
        status: 429,
        headers: { 'retry-after': '2' },
      })
    await open({}, { [`POST ${at}/pr`]: limited, [diffAt]: diff(seen) })
    await confirm()
    expect(await screen.findByText('GitHub asks us to wait until 10:01 UTC.')).toBeTruthy()
    const waiting = await screen.findByRole('button', { name: 'Try again in 2s' })
    expect(waiting).toHaveProperty('disabled', true)
    act(() => void vi.advanceTimersByTime(1_000))
    expect(screen.getByRole('button', { name: 'Try again in 1s' })).toHaveProperty('disabled', true)
    act(() => void vi.advanceTimersByTime(1_000))
    expect(screen.getAllByRole('button', { name: 'Create PR' })[0]).toHaveProperty('disabled', false)
  })

  test('that is not recorded yet can be confirmed, and is said to be recorded first', async () => {
    const message = 'big.bin is larger than 100 MB.'
    const server = await open(
      {},
      { [diffAt]: diff(null), [`POST ${at}/pr`]: () => refusal(409, message, 'code_host_refused') },
    )
    expect(await screen.findByText(/^The changes are not recorded yet\./)).toBeTruthy()
    await confirm()
    // The server refuses this once other changes are recorded, since nobody has seen those.
    expect(await sent(server)).toMatchObject({ tree: null })
    expect(await screen.findByText(message)).toBeTruthy()
  })

  test('is what is recorded once it can be read, while the dialog is open', async () => {
    const server = await open({}, { [diffAt]: diff(null) })
    fireEvent.click(screen.getByRole('tab', { name: /^Code Changes/ }))
    await screen.findByText('No Changes')
    server.answer({ [diffAt]: diff(seen) })
    fireEvent.click(screen.getByRole('button', { name: 'Refresh' }))
    await waitFor(() => expect(screen.queryByText(/^The changes are not recorded yet\./)).toBeNull())
    await confirm()
    expect(await sent(server)).toMatchObject({ tree: seen })
  })

  test.each([
    ['cannot be read', () => refusal(500, 'The changes are out of reach.'), 'The changes are out of reach.'],
    ['cannot be understood', { data: 'all' }, 'Received unexpected data format from the server.'],
    ['has no answer at all', {}, 'Received unexpected data format from the server.'],
  ])('that %s is not published, and is read again by a button', async (_what, answer, why) => {
    const server = await open({}, { [diffAt]: answer })
    const dialog = within(screen.getByRole('dialog', { name: 'Create pull request' }))
    const alert = await dialog.findByRole('alert')
    expect(alert.textContent).toContain(`${why} Nothing is published that you cannot see.`)
    expect(dialog.getByRole('button', { name: 'Create pull request' })).toHaveProperty('disabled', true)
    server.answer({ [diffAt]: diff(seen) })
    fireEvent.click(dialog.getByRole('button', { name: 'Try Again' }))
    await confirm()
    expect(dialog.queryByRole('alert')).toBeNull()
    expect(await sent(server)).toMatchObject({ tree: seen })
  })

  test('is not there yet while what was cancelled still ends, and the words are those of the header', async () => {
    const execution = {
      id: 'e',
      kind: 'command' as const,
      turn: 2,
      requestedAt: taskOf(1).createdAt,
      startedAt: taskOf(1).createdAt,
      endedAt: null,
      steps: [],
      cancelRequested: true,
    }
    await open({ status: 'running', execution }, { [diffAt]: diff(null) })
    expect(screen.getByText(/^What you cancelled is just ending\./)).toBeTruthy()
  })

  test('finding 16: cannot be published while the task runs, and why is told', async () => {
    await open({ status: 'running' }, { [diffAt]: diff(null) })
    expect(screen.getByRole('button', { name: 'Create pull request' })).toHaveProperty('disabled', true)
    expect(screen.getByText(/^The task is running\./)).toBeTruthy()
  })
})
