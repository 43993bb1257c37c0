// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { projectOf, taskOf } from '../../../../tests/client/samples.ts'
import { refusal } from '../../../../tests/client/server.ts'
import { languageColour } from './RepositoryLine.tsx'
import { statusOf } from './ProjectStatus.tsx'

const listed = (...projects: readonly unknown[]) => ({ 'GET /projects': { projects, next: null } })

describe('the card of a project', () => {
  // Holds contract 9.22; screens 2.37d.
  test('lists two of the running tasks, and how many more there are', async () => {
    const runningTitles = ['First', 'Second', 'Third', 'Fourth', 'Fifth']
    const stats = { totalTasks: 6, completedTasks: 1, runningTasks: 5, runningTitles }
    openPage('/projects', { answers: listed(projectOf(1, { stats })) })
    expect(await screen.findByText('5 Tasks Running')).toBeTruthy()
    expect(runningTitles.filter((title) => screen.queryByText(title) !== null)).toEqual(['First', 'Second'])
    expect(await screen.findByText('+3 more')).toBeTruthy()
  })

  test('has the link to its repository above the link that covers the card', async () => {
    openPage('/projects', { answers: listed(projectOf(1)) })
    const covering = await screen.findByRole('link', { name: /^View Details: / })
    expect(covering.className).toContain('after:absolute after:inset-0')
    const repository = screen.getByRole('link', { name: 'ada/engine-1' })
    expect(repository.className).toContain('relative z-10')
  })

  // Holds contract 4.7c.
  test('shows a status that is not known as inactive', async () => {
    openPage('/projects', { answers: listed({ ...projectOf(1), status: 'archived' }) })
    expect(await screen.findByText('Inactive')).toBeTruthy()
    expect(['active', 'syncing', 'error', 'inactive', 'archived', ''].map(statusOf)).toEqual([
      'active',
      'syncing',
      'error',
      'inactive',
      'inactive',
      'inactive',
    ])
  })
})

// Holds contract 9.25.
test('twelve languages have a colour of their own', () => {
  const languages = [
    'TypeScript',
    'JavaScript',
    'Python',
    'Java',
    'Go',
    'Rust',
    'Ruby',
    'PHP',
    'C#',
    'C++',
    'Kotlin',
    'Shell',
  ]
  expect(new Set(languages.map(languageColour)).size).toBe(12)
  for (const language of languages) expect(languageColour(language)).toMatch(/^#[\da-f]{6}$/)
  for (const other of ['Brainfuck', '', 'constructor']) expect(languageColour(other)).toBe('var(--muted)')
})

describe('the page of a project', () => {
  const project = projectOf(1)
  const answers = {
    [`GET /projects/${project.id}`]: { project },
    ...listed(project),
  }

  // Holds contract 7.17b, 7.18c, 9.5; screens 2.43c.
  test('reads ten of its tasks, and shows what each changed', async () => {
    const ten = Array.from({ length: 10 }, (_, index) => index + 1)
    const tasks = ten.map((n) =>
      taskOf(n, { changes: { files: 1, additions: 10 * n, deletions: n, recordedAt: '' } }),
    )
    const server = openPage(`/projects/${project.id}`, {
      answers: { ...answers, 'GET /tasks': { tasks, next: null } },
    })
    const rows = await screen.findAllByRole('listitem')
    for (const n of ten) {
      const row = rows.find((one) => within(one).queryByText(`Task ${n}`) !== null)
      expect(row?.textContent).toContain(`+${10 * n}`)
      expect(row?.textContent).toContain(`−${n}`)
    }
    expect(server.of('GET /tasks').map(({ query }) => query)).toContainEqual({
      project: project.id,
      limit: '10',
    })
  })

  // Holds contract 4.14c.
  test('reads the list of projects again after a sync, and says when there was none', async () => {
    const server = openPage(`/projects/${project.id}`, {
      answers: { ...answers, [`POST /projects/${project.id}/sync`]: { project } },
    })
    fireEvent.click(await screen.findByRole('link', { name: 'Projects' }))
    expect(await screen.findByText('engine-1')).toBeTruthy()
    const before = server.of('GET /projects').length
    fireEvent.click(await screen.findByRole('link', { name: /View Details/ }))
    fireEvent.click(await screen.findByRole('button', { name: 'Sync' }))
    expect(await screen.findByText('Project synced')).toBeTruthy()
    fireEvent.click(await screen.findByRole('link', { name: 'Projects' }))
    await waitFor(() => expect(server.of('GET /projects').length).toBe(before + 1))

    server.answer({ [`POST /projects/${project.id}/sync`]: () => refusal(502) })
    fireEvent.click(await screen.findByRole('link', { name: /View Details/ }))
    fireEvent.click(await screen.findByRole('button', { name: 'Sync' }))
    expect((await screen.findAllByText('Failed to sync project')).length).toBeGreaterThan(0)
  })
})
