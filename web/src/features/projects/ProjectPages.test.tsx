// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Project } from '#domain/api/projects.schema.ts'
import { sampleRepository } from '#domain/api/projects.ts'
import { openPage } from '../../../../tests/client/page.tsx'
import { refusal, type Asked } from '../../../../tests/client/server.ts'
import { projectOf, repositoryOf, taskOf } from '../../../../tests/client/samples.ts'
import { suggestions } from './SuggestedTasks.tsx'

const stats = (totalTasks: number, completedTasks: number, runningTasks: number) => ({
  totalTasks,
  completedTasks,
  runningTasks,
  runningTitles: [],
})
const listing = (...projects: readonly Project[]) => ({ 'GET /projects': { projects, next: null } })
/** The value of a figure, by its name. */
const figure = async (name: string) => (await screen.findByText(name)).nextElementSibling?.textContent

describe('the list of projects', () => {
  const engine = projectOf(1, { name: 'engine', description: 'It computes.', stats: stats(5, 3, 2) })
  const notes = projectOf(2, { name: 'notes', description: 'Words about words.', stats: stats(4, 1, 0) })

  // Holds screens 2.38c.
  test('says that it is loading', async () => {
    openPage('/projects', { answers: { 'GET /projects': new Promise(() => undefined) } })
    expect((await screen.findByText('Loading projects...')).closest('.sr-only')).toBeNull()
  })

  // Holds screens 2.36.
  test('has figures of all projects: in all, running tasks, completed tasks', async () => {
    openPage('/projects', { answers: listing(engine, notes) })
    await screen.findByText('engine')
    expect(await figure('Total Projects')).toBe('2')
    expect(await figure('Active Tasks')).toBe('2')
    expect(await figure('Completed Tasks')).toBe('4')
  })

  // Holds screens 2.35a, 2.38a.
  test('is searched by name and by description', async () => {
    openPage('/projects', { answers: listing(engine, notes) })
    const cards = async () =>
      (await screen.findAllByRole('heading', { level: 2 })).map(({ textContent }) => textContent)
    const search = (words: string) =>
      fireEvent.change(screen.getByPlaceholderText('Search projects...'), { target: { value: words } })
    expect(await cards()).toEqual(['engine', 'notes'])
    search('NOTE')
    expect(await cards()).toEqual(['notes'])
    search('computes')
    expect(await cards()).toEqual(['engine'])
    search('neither')
    expect(await screen.findByText('No projects found')).toBeTruthy()
  })

  // Holds screens 2.35b, 2.38b.
  test('leads to a new project, and where there is none, to the first', async () => {
    openPage('/projects')
    expect(await screen.findByText('Ready to Start Building?')).toBeTruthy()
    for (const name of ['Create New Project', 'Create Your First Project'])
      expect(screen.getByRole('link', { name }).getAttribute('href')).toBe('/projects/new')
  })
})

describe('a card', () => {
  // Holds screens 2.37a, 2.37c, 2.37e.
  test('shows what the project is, how it stands, and leads to it', async () => {
    const project = projectOf(1, { isPrivate: true, status: 'syncing', stats: stats(7, 2, 0) })
    openPage('/projects', { answers: listing(project) })
    const card = within(
      (await screen.findByRole('heading', { name: 'engine-1' })).closest('li') ?? document.body,
    )
    expect(card.getByRole('img', { name: 'Private' })).toBeTruthy()
    for (const text of ['Syncing', 'It computes.', 'Go', '7 tasks', /^Synced .+/])
      expect(card.getByText(text)).toBeTruthy()
    expect(card.getByText('Go').querySelector('span')?.style.background).not.toBe('')
    expect(card.getByRole('link', { name: /ada\/engine-1/ }).getAttribute('href')).toBe(project.githubUrl)
    expect(card.getByRole('link', { name: /^View Details/ }).getAttribute('href')).toBe(
      `/projects/${project.id}`,
    )
  })

  // Holds screens 2.37b.
  test('says so where there is no description, and has no box where nothing runs', async () => {
    openPage('/projects', { answers: listing(projectOf(1, { description: '' })) })
    expect(await screen.findByText('No description provided')).toBeTruthy()
    expect(screen.queryByText(/Running$/)).toBeNull()
  })
})

describe('a card that leads on', () => {
  test('does not say with the tick of a completed task that its project is active', async () => {
    openPage('/projects', { answers: listing(projectOf(1)) })
    const active = (await screen.findByText('Active')).closest('[data-status=active]')
    const icon = active?.querySelector('svg')?.getAttribute('class') ?? ''
    expect(icon).toMatch(/lucide-/)
    expect(icon).not.toMatch(/check/)
  })

  test('says what was done where nothing runs, and takes as much room as it fills', async () => {
    openPage('/projects', { answers: listing(projectOf(1, { stats: stats(7, 2, 0) })) })
    expect(await screen.findByText('2 of 7 completed')).toBeTruthy()
    expect(screen.getByText('2 of 7 completed').closest('li')?.className).not.toMatch(/min-h-/)
  })

  test('has a way to a new task of its project', async () => {
    const [one, two] = [projectOf(1), projectOf(2)]
    openPage('/projects', { answers: listing(one, two) })
    fireEvent.click(await screen.findByRole('link', { name: 'New Task: engine-2' }))
    expect(await screen.findByRole('combobox', { name: 'Project: ada/engine-2' })).toBeTruthy()
    await waitFor(() =>
      expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Task description' })),
    )
  })
})

describe('many projects', () => {
  const many = Array.from({ length: 1_300 }, (_, index) =>
    projectOf(index + 1, { stats: stats(10_000, 9_120, 0) }),
  )

  test('are read page by page and all counted, and drawn as far as one looks', async () => {
    const server = openPage('/projects', {
      answers: {
        'GET /projects': ({ query }: Asked) =>
          query.after === undefined
            ? { projects: many.slice(0, 1_000), next: 'more' }
            : { projects: many.slice(1_000), next: null },
      },
    })
    const cards = () => document.querySelectorAll('main li').length
    await waitFor(async () => expect(await figure('Total Projects')).toBe('1,300'))
    expect(server.of('GET /projects').map(({ query }) => query)).toEqual([
      { limit: '1000' },
      { limit: '1000', after: 'more' },
    ])
    expect(cards()).toBe(60)
    expect(screen.getAllByText('9,120 of 10,000 completed')).toHaveLength(60)
    fireEvent.click(screen.getByText('Show 60 more'))
    expect(cards()).toBe(120)
    fireEvent.change(screen.getByPlaceholderText('Search projects...'), { target: { value: 'engine-1299' } })
    await waitFor(() => expect(cards()).toBe(1))
  })
})

describe('where nothing is shown there is a way on', () => {
  test('from a search without a match to all again', async () => {
    openPage('/projects', { answers: listing(projectOf(1)) })
    const search = await screen.findByPlaceholderText('Search projects...')
    fireEvent.change(search, { target: { value: 'neither' } })
    fireEvent.click(await screen.findByRole('button', { name: 'Clear Search' }))
    expect(await screen.findByRole('heading', { name: 'engine-1' })).toBeTruthy()
  })

  test('from no project to the sample, where there is one', async () => {
    const sample = projectOf(1, { ...sampleRepository, githubRepoName: sampleRepository.name })
    const made: Project[] = []
    openPage('/projects', {
      answers: {
        'GET /projects': () => ({ projects: made, next: null }),
        'GET /github/repos': { repositories: [repositoryOf('sample', sampleRepository)] },
        'POST /projects': () => {
          made.push(sample)
          return { project: sample, id: sample.id }
        },
      },
    })
    fireEvent.click(await screen.findByRole('button', { name: 'Add Sample Project' }))
    expect(await screen.findByRole('combobox', { name: 'Project: ada/sample' })).toBeTruthy()
  })

  test('from no repository to what Flightdeck may see, and from none that is found to all', async () => {
    openPage('/projects/new')
    const access = await screen.findByRole('link', { name: 'Manage Repository Access' })
    expect(access.getAttribute('href')).toBe('/settings?tab=github')
    cleanup()
    openPage('/projects/new', {
      answers: { 'GET /github/repos': { repositories: [repositoryOf('engine')] } },
    })
    expect(await screen.findByText('1 repository found')).toBeTruthy()
    fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'neither' } })
    fireEvent.click(await screen.findByRole('button', { name: 'Clear Search' }))
    expect(await screen.findByText('1 repository found')).toBeTruthy()
  })
})

describe('the page to make a project', () => {
  // Holds screens 2.39, 2.41, 2.42a.
  test('has two modes, each with its own fields and its own button', async () => {
    openPage('/projects/new', {
      answers: { 'GET /github/repos': { repositories: [repositoryOf('engine')] } },
    })
    /** How many buttons of this name submit the form. */
    const submits = (name: string) =>
      screen.queryAllByRole('button', { name }).filter((button) => button.getAttribute('type') === 'submit')
        .length
    expect(await screen.findByRole('heading', { level: 1, name: 'GitHub Integration' })).toBeTruthy()
    expect(await screen.findByRole('radio', { name: /ada\/engine/ })).toBeTruthy()
    expect(submits('Import from GitHub')).toBe(1)
    fireEvent.click(screen.getByRole('button', { name: 'Create New Repository' }))
    for (const name of ['Repository Name', 'Description'])
      expect(await screen.findByRole('textbox', { name })).toBeTruthy()
    expect(screen.getByRole('checkbox', { name: 'Make this repository private' })).toBeTruthy()
    expect([submits('Import from GitHub'), submits('Create & Import from GitHub')]).toEqual([0, 1])
  })

  // Holds screens 2.40.
  test('counts the repositories, those that a search shows, and says when it shows none', async () => {
    const repositories = [
      repositoryOf('engine', { private: true }),
      repositoryOf('notes'),
      repositoryOf('web'),
    ]
    openPage('/projects/new', { answers: { 'GET /github/repos': { repositories } } })
    expect(await screen.findByText('3 repositories found')).toBeTruthy()
    expect(screen.getAllByText('Private')).toHaveLength(1)
    const search = (words: string) =>
      fireEvent.change(screen.getByRole('searchbox'), { target: { value: words } })
    search('note')
    expect(await screen.findByText('Showing 1 of 3 repositories')).toBeTruthy()
    search('neither')
    expect(await screen.findByText('No Repositories Found')).toBeTruthy()
  })

  // Holds screens 2.42b.
  test('says that the repository is being made while it is', async () => {
    openPage('/projects/new', { answers: { 'POST /github/repos': new Promise(() => undefined) } })
    fireEvent.click(await screen.findByRole('button', { name: 'Create New Repository' }))
    fireEvent.change(await screen.findByRole('textbox', { name: 'Repository Name' }), {
      target: { value: 'engine' },
    })
    fireEvent.click(screen.getByRole('button', { name: 'Create & Import from GitHub' }))
    const busy = await screen.findByRole('button', { name: 'Creating on GitHub...' })
    expect(busy).toHaveProperty('disabled', true)
  })
})

describe('a project', () => {
  test.each([
    [null, 'What the repository holds is not known yet. The next task will show it.'],
    [
      { submodules: [], submoduleCount: 2, filters: ['lfs', 'sops'], isShallow: true, hooks: null },
      '2 submodules, Git LFS, filters: sops, a shallow history Details',
    ],
  ])('repository F2: says in a line what its repository is (%#)', async (repository, said) => {
    const project = projectOf(1)
    const at = `GET /projects/${project.id}`
    openPage(`/projects/${project.id}`, {
      answers: { [at]: { project }, [`${at}/repository`]: { repository } },
    })
    const sameText = (_: string, element: Element | null) =>
      element?.tagName === 'P' && element.textContent === said
    const line = await screen.findByText(sameText)
    const details = within(line).queryByRole('link', { name: 'Details' })
    expect(details?.getAttribute('href')).toBe(repository ? `/projects/${project.id}/settings` : undefined)
  })

  const project = projectOf(1, { isPrivate: true, stats: stats(4, 3, 1) })
  const open = (tasks: readonly unknown[], over = project) =>
    openPage(`/projects/${project.id}`, {
      answers: { [`GET /projects/${project.id}`]: { project: over }, 'GET /tasks': { tasks, next: null } },
    })

  test('that is syncing is looked at every 2 seconds until it is not, and says why a sync failed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const at = `GET /projects/${project.id}`
    const said = { ...project, status: 'syncing' as Project['status'], statusReason: null as string | null }
    const server = openPage(`/projects/${project.id}`, {
      answers: { [at]: { project: said }, 'GET /tasks': { tasks: [], next: null } },
    })
    expect(await screen.findByText('Syncing')).toBeTruthy()
    const reads = server.of(at).length
    Object.assign(said, { status: 'error', statusReason: 'Access is refused.' })
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await screen.findByText('Access is refused.')).toBeTruthy()
    expect(server.of(at)).toHaveLength(reads + 1)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(server.of(at)).toHaveLength(reads + 1)
  })

  test('that nobody knows is not found, and there is nothing to try again', async () => {
    const { id } = projectOf(1)
    openPage(`/projects/${id}`, {
      answers: { [`GET /projects/${id}`]: () => refusal(404, 'There is no such project.', 'not_found') },
    })
    expect(await screen.findByRole('heading', { level: 1, name: 'Project Not Found' })).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Try Again' })).toBeNull()
  })

  // Holds screens 2.43a.
  test('shows its name, lock, description, language and repository, and its figures', async () => {
    open([])
    expect(await screen.findByRole('heading', { level: 1, name: 'engine-1' })).toBeTruthy()
    for (const text of ['Private', 'It computes.', 'Go']) expect(screen.getByText(text)).toBeTruthy()
    expect(screen.getByRole('link', { name: /ada\/engine-1/ }).getAttribute('href')).toBe(project.githubUrl)
    expect(await figure('Total Tasks')).toBe('4')
    expect(await figure('Active Tasks')).toBe('1')
    expect(await figure('Completed')).toBe('3')
    expect(await figure('Completion Rate')).toBe('75%')
  })

  // Holds screens 2.43d.
  test('shows the tasks that run now, and all of them with their age', async () => {
    const createdAt = new Date(Date.now() - 3 * 60_000).toISOString()
    open([
      taskOf(1, { status: 'running', progress: 40, createdAt }),
      taskOf(2, { prUrl: 'https://code.example/pull/7', prNumber: 7, createdAt }),
    ])
    expect(await screen.findByText('1 Task Currently Running')).toBeTruthy()
    expect(await screen.findByRole('heading', { name: 'All Tasks (4)' })).toBeTruthy()
    const rows = (await screen.findAllByRole('link', { name: /^Task \d$/ })).map((link) => link.closest('li'))
    expect(rows).toHaveLength(2)
    const [running, done] = rows.map((row) => within(row ?? document.body))
    expect(running?.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('40')
    expect(running?.getByText('task-1')).toBeTruthy()
    expect(done?.getByText('Completed')).toBeTruthy()
    expect(done?.getByText('3m ago')).toBeTruthy()
    expect(done?.getByRole('link', { name: 'Pull request #7' })).toBeTruthy()
  })

  test('says of none that it runs while all its tasks wait', async () => {
    open([taskOf(1, { status: 'queued', progress: 0 })], { ...project, stats: stats(1, 0, 0) })
    expect(await figure('Active Tasks')).toBe('0')
    expect(await screen.findByRole('link', { name: 'Task 1' })).toBeTruthy()
    expect(screen.queryByText(/Currently Running$/)).toBeNull()
  })

  test('says of a row neither the repository, which is above, nor twice that it runs', async () => {
    const running = taskOf(1, { status: 'running', progress: 40, title: 'Runs' })
    open([running, taskOf(2)])
    const panel = within(await screen.findByRole('region', { name: '1 Task Currently Running' }))
    expect((await panel.findByRole('link', { name: 'Runs' })).getAttribute('href')).toBe(
      `/tasks/${running.id}`,
    )
    expect(screen.getAllByRole('link', { name: 'Runs' })).toHaveLength(1)
    // The page names the repository once, in the link to it.
    expect(screen.getAllByText('ada/engine-1')).toHaveLength(1)
  })

  // Holds screens 2.43b.
  test('counts all that run, also those the list has not come to, and reaches all tasks', async () => {
    const running = (n: number) => n > 20
    const tasks = Array.from({ length: 32 }, (_, index) =>
      taskOf(index + 1, { status: running(index + 1) ? 'running' : 'completed' }),
    )
    const server = open([], { ...project, stats: stats(32, 20, 12) })
    server.answer({
      'GET /tasks': ({ query }: Asked) => {
        const asked = tasks.filter(({ status }) => query.status === undefined || status === query.status)
        const from = asked.findIndex(({ id }) => id === query.after) + 1
        const shown = asked.slice(from, from + Number(query.limit))
        return { tasks: shown, next: from + shown.length < asked.length ? shown.at(-1)?.id : null }
      },
    })
    const rows = async () => (await screen.findAllByRole('link', { name: /^Task \d+$/ })).length
    expect(await screen.findByText('12 Tasks Currently Running')).toBeTruthy()
    expect(screen.getByText('2 not shown here')).toBeTruthy()
    await waitFor(async () => expect(await rows()).toBe(20))
    fireEvent.click(screen.getByRole('button', { name: 'Load more' }))
    await waitFor(async () => expect(await rows()).toBe(32))
    expect(screen.queryByRole('button', { name: 'Load more' })).toBeNull()
    expect(server.of('GET /tasks').at(-1)?.query).toMatchObject({ project: project.id, after: tasks[9]?.id })
  })

  test('with tasks leads to a new one', async () => {
    open([taskOf(1)])
    expect((await screen.findByRole('link', { name: 'New Task' })).getAttribute('href')).toBe('/dashboard')
  })

  // Holds screens 2.43e.
  test('without a task leads to the first, for which it is chosen already', async () => {
    const server = open([], projectOf(1))
    server.answer({ 'GET /projects': { projects: [projectOf(1), projectOf(2)], next: null } })
    const first = await screen.findByRole('link', { name: 'Create First Task' })
    expect(first.getAttribute('href')).toBe('/dashboard')
    fireEvent.click(first)
    expect(await screen.findByRole('combobox', { name: 'Project: ada/engine-1' })).toBeTruthy()
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Task description' }))
  })

  test('without a task suggests some, each a click from being started', async () => {
    const server = open([], projectOf(1))
    server.answer({ 'GET /projects': { projects: [projectOf(1), projectOf(2)], next: null } })
    const [words] = suggestions.ofAny
    fireEvent.click(await screen.findByRole('button', { name: words }))
    expect(await screen.findByRole('combobox', { name: 'Project: ada/engine-1' })).toBeTruthy()
    expect(screen.getByRole('textbox', { name: 'Task description' })).toHaveProperty('value', words)
  })
})
