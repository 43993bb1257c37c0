// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { agentStates, projectOf, taskOf } from '../../../../tests/client/samples.ts'
import { json, refusal, type Answers } from '../../../../tests/client/server.ts'

const [project, empty] = [projectOf(1), projectOf(2)]
const answers: Answers = {
  'GET /projects': { projects: [project, empty], next: null },
  [`GET /projects/${project.id}/branches`]: { branches: [{ name: 'trunk' }, { name: 'release' }] },
  [`GET /projects/${empty.id}/branches`]: { branches: [] },
  'POST /tasks': () => json(201, { task: taskOf(1), position: '9' }),
}

const description = () => screen.findByRole('textbox', { name: 'Task description' })
const start = () => screen.getByRole('button', { name: 'Start Coding' })
const write = async (text: string) => {
  fireEvent.change(await description(), { target: { value: text } })
}
/** Starts the task by the keyboard: the page then says what is missing, while the button is only disabled. */
const startByKeys = async () => {
  fireEvent.keyDown(await description(), { key: 'Enter', ctrlKey: true })
}
async function choose(list: string, option: string) {
  fireEvent.click(await screen.findByRole('combobox', { name: new RegExp(`^${list}:`) }))
  fireEvent.click(await screen.findByRole('option', { name: option }))
}
const branch = (name: string) => screen.findByRole('combobox', { name: `Branch: ${name}` })

describe('a task in the making', () => {
  // Holds contract 5.1.
  test('needs a description that is not blank, a project and a branch, and says which is missing', async () => {
    const server = openPage('/dashboard', {
      answers: { ...answers, [`GET /projects/${project.id}/branches`]: () => refusal(502) },
    })
    await write(' \n ')
    await startByKeys()
    expect(await screen.findByText('Please enter a task description')).toBeTruthy()
    await write('Count the lines')
    expect(await screen.findByText('Please select a project')).toBeTruthy()
    await choose('Project', 'ada/engine-1')
    expect(await screen.findByText('Please select a branch')).toBeTruthy()
    await startByKeys()
    expect(server.of('POST /tasks')).toEqual([])
  })

  test('is for the only project there is, unless another is made', async () => {
    openPage('/dashboard', { answers: { ...answers, 'GET /projects': { projects: [project], next: null } } })
    await write('Count the lines')
    await branch('trunk')
    expect(start()).toHaveProperty('disabled', false)
    expect(screen.getByRole('combobox', { name: 'Project: ada/engine-1' })).toBeTruthy()
  })

  // Holds contract 5.3.
  test('can be started once description, project and branch are there, and not before', async () => {
    openPage('/dashboard', { answers })
    await description()
    expect(start()).toHaveProperty('disabled', true)
    await write('Count the lines')
    expect(start()).toHaveProperty('disabled', true)
    await choose('Project', 'ada/engine-1')
    await branch('trunk')
    expect(start()).toHaveProperty('disabled', false)
    await write('  ')
    expect(start()).toHaveProperty('disabled', true)
  })

  // Holds contract 4.14a, 7.19b, 8.20a.
  test('is sent with title, description, projectId, branch, codexModel, images and agent, and then tasks and projects are read again', async () => {
    const server = openPage('/dashboard', { answers })
    const line = 'x'.repeat(120)
    await write(`${line}\nand more`)
    await choose('Project', 'ada/engine-1')
    await branch('trunk')
    const reads = () => [server.of('GET /tasks').length, server.of('GET /projects').length]
    const before = reads()
    fireEvent.click(start())
    expect(await screen.findByText('Task created successfully')).toBeTruthy()
    expect(await screen.findByText('Your AI engineer is now working on your task')).toBeTruthy()
    expect(server.of('POST /tasks')[0]?.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      title: 'x'.repeat(100),
      description: `${line}\nand more`,
      projectId: project.id,
      branch: 'trunk',
      codexModel: 'o4-mini',
      images: [],
      agent: 'claude',
    })
    await waitFor(() => expect(reads()).toEqual(before.map((count) => count + 1)))
  })

  test('is offered the commands of the agent that need no conversation', async () => {
    openPage('/dashboard', { answers })
    ;(await description()).focus()
    await write('/')
    const [offered, ...more] = within(await screen.findByRole('listbox')).getAllByRole('option')
    expect(offered?.textContent).toContain('Write a CLAUDE.md for this repository')
    expect(more).toEqual([])
    fireEvent.keyDown(await description(), { key: 'Enter' })
    expect(await description()).toHaveProperty('value', '/init')
    expect(screen.queryByRole('listbox')).toBeNull()
  })

  test('starts from main where the repository has no branch yet, and says that it will be made', async () => {
    const server = openPage('/dashboard', { answers })
    await write('Begin')
    await choose('Project', 'ada/engine-2')
    await branch('main (will be created)')
    fireEvent.click(start())
    expect(await screen.findByText('Task created successfully')).toBeTruthy()
    expect(server.of('POST /tasks')[0]?.body).toMatchObject({ branch: 'main' })
  })

  test('whose answer was lost keeps its id and its key until something else is sent', async () => {
    const lost = () => Promise.reject(new TypeError('Failed to fetch'))
    const server = openPage('/dashboard', { answers: { ...answers, 'POST /tasks': lost } })
    await choose('Project', 'ada/engine-1')
    await branch('trunk')
    const failures = () => screen.queryAllByText('Failed to create task').length
    for (const [index, text] of ['Count the lines', 'Count the lines', 'Count the words'].entries()) {
      await write(text)
      fireEvent.click(start())
      await waitFor(() => expect(failures()).toBe(index + 1))
    }
    const [first, again, other] = server.of('POST /tasks')
    expect(again).toEqual(first)
    expect(first?.body).toMatchObject({ id: first?.key })
    expect(other?.body).toMatchObject({ id: other?.key })
    expect(other?.key).not.toBe(first?.key)
  })

  // Holds contract 8.11a.
  test('that could not be made says so, with the server’s reason', async () => {
    openPage('/dashboard', { answers: { ...answers, 'POST /tasks': () => refusal(429, 'Too many tasks.') } })
    await write('Count the lines')
    await choose('Project', 'ada/engine-1')
    await branch('trunk')
    fireEvent.click(start())
    expect(await screen.findByText('Failed to create task')).toBeTruthy()
    expect(await screen.findByText('Too many tasks.')).toBeTruthy()
  })
})

test('an agent that cannot run is shown with the reason, and cannot be chosen', async () => {
  openPage('/dashboard', { answers: { ...answers, 'GET /agents': { agents: agentStates } } })
  fireEvent.click(await screen.findByRole('combobox', { name: 'Agent: Claude' }))
  const cursor = await screen.findByRole('option', { name: 'Cursor', description: 'It is not installed.' })
  expect(cursor.getAttribute('aria-disabled')).toBe('true')
  fireEvent.click(cursor)
  expect(screen.getByRole('option', { name: 'Claude' }).getAttribute('aria-selected')).toBe('true')
  fireEvent.click(screen.getByRole('option', { name: 'Claude' }))
  expect(await screen.findByRole('combobox', { name: 'Agent: Claude' })).toBeTruthy()
})

// Holds contract 8.11b.
test('projects that could not be read are told with the reason', async () => {
  openPage('/dashboard', { answers: { 'GET /projects': () => refusal(503, 'A part is away.') } })
  expect(await screen.findByText('Failed to fetch projects: A part is away.')).toBeTruthy()
})

test('branches that could not be read are told in words of their own where the server has none, and read again', async () => {
  const server = openPage('/dashboard', {
    answers: { ...answers, [`GET /projects/${project.id}/branches`]: () => refusal(502) },
  })
  await choose('Project', 'ada/engine-1')
  expect(await screen.findByText('Failed to fetch branches')).toBeTruthy()
  server.answer(answers)
  fireEvent.click(screen.getByRole('button', { name: 'Try Again' }))
  await branch('trunk')
  expect(screen.queryByText('Failed to fetch branches')).toBeNull()
})

describe('the recent tasks', () => {
  const rows = async () =>
    within(await screen.findByRole('region', { name: 'Recent Tasks' })).findAllByRole('listitem')

  // Holds contract 7.18b, 9.8; screens 2.33a.
  test('are the first eight, each with the lines that it added and deleted', async () => {
    const tasks = Array.from({ length: 9 }, (_, index) =>
      taskOf(index + 1, {
        changes: { files: 1, additions: 10 + index, deletions: index + 1, recordedAt: '' },
      }),
    )
    openPage('/dashboard', { answers: { 'GET /tasks': { tasks, next: null } } })
    const shown = await rows()
    expect(shown).toHaveLength(8)
    shown.forEach((row, index) => {
      within(row).getByText(`+${10 + index}`)
      within(row).getByText(`−${index + 1}`)
    })
  })

  // Holds contract 4.1d.
  test('show a progress bar only while they run', async () => {
    const statuses = ['pending', 'queued', 'running', 'completed', 'failed', 'cancelled'] as const
    const tasks = statuses.map((status, index) => taskOf(index + 1, { status, progress: 40 }))
    openPage('/dashboard', { answers: { 'GET /tasks': { tasks, next: null } } })
    const shown = await rows()
    const withBar = statuses.filter((_, index) => {
      const row = shown[index]
      return row !== undefined && within(row).queryByRole('progressbar') !== null
    })
    expect(withBar).toEqual(['running'])
  })

  test('that could not be read are told of', async () => {
    openPage('/dashboard', { answers: { 'GET /tasks': () => refusal(500) } })
    expect(await screen.findByText('Failed to fetch tasks')).toBeTruthy()
  })
})
