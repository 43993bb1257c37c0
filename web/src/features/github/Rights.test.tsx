// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { ada } from '../../../../tests/client/samples.ts'
import { refusal } from '../../../../tests/client/server.ts'
import type { InstallationOfApp } from '#domain/api/github.schema.ts'
import type { GitHubRights } from './gitHubApi.ts'

const left = { limit: 5_000, remaining: 4_321, resetsAt: '2026-03-01T14:05:00.000Z' }
const acme: InstallationOfApp = {
  id: '7',
  account: 'acme',
  isOrganization: true,
  repositories: 'all',
  count: 12,
  suspendedAt: null,
  granted: [{ name: 'contents', level: 'write' }],
  missing: [{ name: 'checks', level: 'read' }],
  left,
  url: 'https://code.example/7',
}
const known: GitHubRights = {
  app: {
    name: 'Flightdeck',
    slug: 'flightdeck',
    url: 'https://code.example/apps/flightdeck',
    installUrl: 'https://code.example/i',
    hasKey: true,
  },
  isSingleUser: false,
  isLocal: false,
  permissions: {
    kind: 'read',
    rows: [
      { name: 'contents', wanted: 'write', isOptional: false, app: 'write' },
      { name: 'checks', wanted: 'read', isOptional: false, app: null },
      { name: 'members', wanted: 'read', isOptional: true, app: null },
    ],
    missing: [{ name: 'checks', level: 'read' }],
    missingEvents: ['check_run'],
    owner: { account: 'acme', isOrganization: true },
    url: 'https://code.example/permissions',
  },
  installations: {
    kind: 'read',
    installations: [acme],
    more: 2,
    requests: [{ account: 'northwind', requester: 'grace' }],
  },
  deliveries: {
    kind: 'read',
    deliveries: [
      {
        id: '2',
        at: '2026-03-01T13:00:00Z',
        event: 'push',
        action: null,
        succeeded: true,
        effect: 'repeated',
      },
      {
        id: '1',
        at: '2026-03-01T12:00:00Z',
        event: 'issues',
        action: 'opened',
        succeeded: false,
        effect: 'handled',
      },
    ],
  },
  own: { kind: 'read', login: 'ada', left: { ...left, remaining: 12 } },
}

const open = (rights: unknown, isAdmin = true) =>
  openPage('/admin/github', {
    answers: { 'GET /auth/me': { user: ada, isAdmin }, 'GET /admin/github': rights },
  })
const rowsOf = async (name: string) => {
  const table = within(await screen.findByRole('table', { name }))
  return table
    .getAllByRole('row')
    .map((row) => [...row.children].map(({ textContent }) => textContent))
    .slice(1)
}

test('what is wanted, asked for and granted stands side by side, with what is missing and who can change it', async () => {
  open(known)
  expect(await rowsOf('Permissions')).toEqual([
    ['contents', 'write', 'write', 'Everywhere'],
    ['checks', 'read', 'Not asked for', '–'],
    ['members', 'read, optional', 'Not asked for', '–'],
  ])
  const note = screen.getByText(/^The App does not ask for checks \(read\)\./)
  expect(note.textContent).toContain('GitHub does not tell it of check_run. An owner of acme can change it')
  expect(screen.getByRole('link', { name: 'Change Permissions' }).getAttribute('href')).toBe(
    'https://code.example/permissions',
  )
  expect(await rowsOf('Installations')).toEqual([
    ['acme', 'All (12)', 'Not granted: checks (read)', 'Configure'],
    ['northwind', '–', 'Asked for by grace, waits for an owner', ''],
  ])
  expect(screen.getByText('2 more not shown here.')).toBeTruthy()
  expect(await rowsOf('Requests Left')).toEqual([
    ['Installation for acme', '4,321', '5,000', '14:05:00'],
    ['You, as ada', '12', '5,000', '14:05:00'],
  ])
  expect(await rowsOf('Last Deliveries')).toEqual([
    ['2026-03-01 13:00:00', 'push', 'Delivered', 'Repeated, no second effect'],
    ['2026-03-01 12:00:00', 'issues.opened', 'Not delivered', 'Handled, fetched later'],
  ])
})

test('a part that GitHub does not tell says why, and the others are there', async () => {
  const reason = "GitHub can't be reached. Try again later."
  open({
    ...known,
    installations: { kind: 'unavailable', reason },
    deliveries: { kind: 'unavailable', reason },
  })
  expect(await screen.findAllByText(reason)).toHaveLength(2)
  expect((await rowsOf('Permissions'))[0]).toEqual(['contents', 'write', 'write', 'Unknown'])
  expect(await rowsOf('Requests Left')).toHaveLength(1)
})

test('without an App the way to make one is shown, and without its key what is lacking then', async () => {
  const reason = 'This server is not set up.'
  const none = { kind: 'unavailable', reason } as const
  const server = open({ app: null, permissions: none, installations: none, deliveries: none, own: null })
  const setup = await screen.findByRole('link', { name: 'Set Up the App' })
  expect(setup.getAttribute('href')).toBe('/setup')
  expect(screen.queryByText(reason)).toBeNull()
  expect(server.of('GET /admin/github')).toHaveLength(1)
})

test('in single-user mode there is nothing to set up', async () => {
  open({ ...known, app: null, isSingleUser: true })
  expect(await screen.findByText(/^This server is in single-user mode/)).toBeTruthy()
  expect(screen.queryByRole('link', { name: 'Set Up the App' })).toBeNull()
})

test('on the local code host there is nothing to set up', async () => {
  open({ ...known, app: null, isLocal: true, own: null })
  expect(await screen.findByText(/^The local code host knows no GitHub Apps/)).toBeTruthy()
  expect(screen.queryByRole('link', { name: 'Set Up the App' })).toBeNull()
})

test('an App without a key says what it cannot do', async () => {
  open({ ...known, app: { ...known.app, hasKey: false } })
  expect(await screen.findByText(/^The private key of the App is not configured\./)).toBeTruthy()
  expect(screen.queryByRole('table', { name: 'Permissions' })).toBeNull()
})

test('a page that could not be loaded is asked for again, and nobody else asks for it', async () => {
  let isAway = true
  open(() => (isAway ? refusal(502) : known))
  const again = await screen.findByRole('button', { name: 'Try Again' })
  isAway = false
  fireEvent.click(again)
  expect(await screen.findByRole('table', { name: 'Permissions' })).toBeTruthy()
})

test('who is no administrator is told so, and the server is not asked', async () => {
  const server = open(known, false)
  expect(
    await screen.findByText('Only the administrators of this server see the rights of its App.'),
  ).toBeTruthy()
  expect(server.of('GET /admin/github')).toEqual([])
})

test('a refresh has the server read from the code host again', async () => {
  const server = open(known)
  fireEvent.click(await screen.findByRole('button', { name: 'Refresh' }))
  await waitFor(() =>
    expect(server.of('GET /admin/github').map(({ query }) => query)).toEqual([{}, { refresh: 'true' }, {}]),
  )
})
