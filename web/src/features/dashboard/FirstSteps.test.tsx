// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { sampleRepository } from '#domain/api/projects.ts'
import { openPage, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { agentStates, projectOf, repositoryOf, taskOf } from '../../../../tests/client/samples.ts'
import type { Answers } from '../../../../tests/client/server.ts'
import { suggestions } from '../projects/SuggestedTasks.tsx'

const { name, description } = sampleRepository
const sample = projectOf(1, { name, description, githubRepoName: name })
const own = projectOf(2)
const changes = { files: 1, additions: 1, deletions: 0, recordedAt: '' }

function open(projects: readonly unknown[], tasks: readonly unknown[], more: Answers = {}) {
  return openPage('/dashboard', {
    answers: {
      'GET /projects': { projects, next: null },
      'GET /tasks': { tasks, next: null },
      [`GET /projects/${sample.id}/branches`]: { branches: [{ name: 'main' }] },
      [`GET /projects/${own.id}/branches`]: { branches: [{ name: 'main' }] },
      [`POST /projects/${sample.id}/prepare`]: { success: true },
      ...more,
    },
  })
}
const step = async () => within(await screen.findByRole('region', { name: 'Next step' }))
const isThere = () => screen.queryByRole('region', { name: 'Next step' }) !== null

describe('somebody new', () => {
  test('without a project adds the sample with one click, and is then offered its tasks', async () => {
    const made: unknown[] = []
    const server = open([], [], {
      'GET /projects': () => ({ projects: made, next: null }),
      'GET /github/repos': { repositories: [repositoryOf('notes'), repositoryOf(name, { description })] },
      'POST /projects': () => {
        made.push(sample)
        return { project: sample, id: sample.id }
      },
    })
    fireEvent.click(await (await step()).findByRole('button', { name: 'Add Sample Project' }))
    const [words] = suggestions.ofSample
    fireEvent.click(await screen.findByRole('button', { name: words }))
    expect(server.of('POST /projects')[0]?.body).toEqual({ repoUrl: repositoryOf(name).html_url })
    const box = screen.getByRole('textbox', { name: 'Task description' })
    expect(box).toHaveProperty('value', words)
    expect(document.activeElement).toBe(box)
    expect(await screen.findByRole('combobox', { name: `Project: ada/${name}` })).toBeTruthy()
  })

  test('where there is no sample, is led to a repository of their own', async () => {
    open([], [])
    const link = (await step()).findByRole('link', { name: 'Use Your Own Repository' })
    expect((await link).getAttribute('href')).toBe('/projects/new')
    expect((await step()).queryByRole('button', { name: 'Add Sample Project' })).toBeNull()
  })

  test('is suggested tasks, which are sent as they stand and take nothing of what is written', async () => {
    const server = open([own], [], { 'POST /tasks': { task: taskOf(1) } })
    const [one, two] = suggestions.ofAny
    fireEvent.click(await screen.findByRole('button', { name: one }))
    const box = screen.getByRole('textbox', { name: 'Task description' })
    fireEvent.click(screen.getByRole('button', { name: two }))
    expect(box).toHaveProperty('value', two)
    fireEvent.change(box, { target: { value: 'My words' } })
    fireEvent.click(screen.getByRole('button', { name: one }))
    expect(box).toHaveProperty('value', `My words\n${one}`)
    const start = screen.getByRole('button', { name: 'Start Coding' })
    await waitFor(() => expect(start).toHaveProperty('disabled', false))
    fireEvent.click(start)
    await waitFor(() =>
      expect(server.of('POST /tasks')[0]?.body).toMatchObject({ description: `My words\n${one}` }),
    )
  })

  test('is told where no agent can run, and what runs all the same', async () => {
    const agents = agentStates.map((agent) => ({ ...agent, missing: 'It has no key.' }))
    open([own], [], { 'GET /agents': { agents } })
    expect(
      await (await step()).findByText('It has no key. You can still run commands in a task.'),
    ).toBeTruthy()
  })

  test('is promised no commands while there is no runner', async () => {
    const missing = 'No runner is connected. New tasks will wait.'
    const agents = agentStates.map((agent) => ({ ...agent, installed: false, missing }))
    open([own], [], { 'GET /agents': { agents } })
    expect(await (await step()).findByText(missing)).toBeTruthy()
  })

  test.each([
    ['follows the first task while it runs', [own], [taskOf(1, { status: 'running' })], 'Open Task'],
    ['is led from its changes to a pull request', [own], [taskOf(1, { changes })], 'Review Changes'],
    ['comes from the sample to their own', [sample], [taskOf(1, { prNumber: 7 })], 'Use Your Own Repository'],
  ])('%s', async (_, projects, tasks, link) => {
    open(projects, tasks)
    expect(await (await step()).findByRole('link', { name: link })).toBeTruthy()
  })

  test('finds the changes open that they are led to', async () => {
    const task = taskOf(1, { changes })
    open([own], [task], openTaskAnswers(task))
    fireEvent.click(await (await step()).findByRole('link', { name: 'Review Changes' }))
    const tab = await screen.findByRole('tab', { name: /^Code Changes/, selected: true })
    expect(tab).toBeTruthy()
  })

  test('puts the steps away for good, and is led to the first project all the same', async () => {
    open([], [])
    await step()
    expect(screen.queryByRole('link', { name: 'Create Your First Project' })).toBeNull()
    fireEvent.click(await (await step()).findByRole('button', { name: 'Hide next steps' }))
    expect(isThere()).toBe(false)
    expect(localStorage.getItem('firstStepsPutAway')).toBe('yes')
    const link = await screen.findByRole('link', { name: 'Create Your First Project' })
    expect(link.getAttribute('href')).toBe('/projects/new')
  })
})

describe('nothing is said any more', () => {
  test.each([
    ['after a pull request of a repository of their own', [sample, own], [taskOf(1, { prNumber: 7 })]],
    ['to whoever has begun several tasks', [own], [1, 2, 3, 4].map((n) => taskOf(n))],
  ])('%s', async (_, projects, tasks) => {
    open(projects, tasks)
    await screen.findByText('Recent Tasks')
    await screen.findAllByText(/^Task 1$/)
    expect(isThere()).toBe(false)
  })
})
