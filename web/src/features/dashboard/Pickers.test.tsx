// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { projectOf } from '../../../../tests/client/samples.ts'
import { projectOptions } from './Pickers.tsx'

const owned = (n: number, githubOwner: string, isOrganization: boolean, githubRepoName: string) =>
  projectOf(n, { githubOwner, isOrganization, githubRepoName })

// Holds screens 2.29a.
test('projects are grouped by owner, organisations first, each in the order of the alphabet', () => {
  const projects = [
    owned(1, 'ada', false, 'notes'),
    owned(2, 'northwind', true, 'web'),
    owned(3, 'helios', true, 'web'),
    owned(4, 'ada', false, 'engine'),
    owned(5, 'helios', true, 'api'),
  ]
  expect(projectOptions(projects).map(({ group, label }) => `${group}: ${label}`)).toEqual([
    'helios: helios/api',
    'helios: helios/web',
    'northwind: northwind/web',
    'ada: ada/engine',
    'ada: ada/notes',
  ])
})

// Holds screens 2.29b.
test('the picker of projects leads to Manage Projects', async () => {
  openPage('/dashboard', { answers: { 'GET /projects': { projects: [projectOf(1)], next: null } } })
  fireEvent.click(await screen.findByRole('combobox', { name: /^Project:/ }))
  fireEvent.click(await screen.findByRole('button', { name: 'Manage Projects' }))
  expect(await screen.findByRole('heading', { level: 1, name: 'Manage Projects' })).toBeTruthy()
})

test('the picker of agents speaks of agents', async () => {
  openPage('/dashboard')
  fireEvent.click(await screen.findByRole('combobox', { name: /^Agent:/ }))
  const filter = await screen.findByPlaceholderText('Search agents...')
  fireEvent.change(filter, { target: { value: 'nobody' } })
  expect(await screen.findByText('No agents found')).toBeTruthy()
  expect(screen.queryByText('No projects found')).toBeNull()
})

// Holds screens 2.30.
test('a repository without a branch is told that main will be created, and when', async () => {
  const project = projectOf(1)
  openPage('/dashboard', {
    answers: {
      'GET /projects': { projects: [project], next: null },
      [`GET /projects/${project.id}/branches`]: { branches: [] },
    },
  })
  fireEvent.click(await screen.findByRole('combobox', { name: /^Project:/ }))
  fireEvent.click(await screen.findByRole('option', { name: 'ada/engine-1' }))
  fireEvent.click(await screen.findByRole('combobox', { name: 'Branch: main (will be created)' }))
  expect(await screen.findByText('A new main branch will be created when coding starts.')).toBeTruthy()
})
