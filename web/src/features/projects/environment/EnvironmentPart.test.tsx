// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { ShownEnvironment } from '#domain/api/environment.schema.ts'
import { openPage } from '../../../../../tests/client/page.tsx'
import { projectOf, unsetSettings } from '../../../../../tests/client/samples.ts'
import { json } from '../../../../../tests/client/server.ts'

const project = projectOf(1)
const path = `/projects/${project.id}`
const rebuild = `POST ${path}/environment/rebuild`
const none: ShownEnvironment = {
  state: 'none',
  since: null,
  builtAt: null,
  seconds: null,
  bytes: null,
  reason: null,
  usesEarlier: false,
  changed: null,
  leftOut: [],
  log: '',
}
const ready: ShownEnvironment = {
  ...none,
  state: 'ready',
  since: project.createdAt,
  builtAt: new Date(Date.now() - 5 * 60_000).toISOString(),
  seconds: 42.31,
  bytes: 512_400_000,
  leftOut: ['.npmrc'],
  log: 'added 120 packages',
}
const open = async (environment: ShownEnvironment, setupCommand = 'npm ci') => {
  const settings = { ...unsetSettings, setupCommand }
  const server = openPage(`${path}/settings`, {
    answers: {
      [`GET ${path}`]: { project },
      [`GET ${path}/settings`]: { settings, suggestions: [] },
      [`GET ${path}/repository`]: { repository: null },
      [`GET ${path}/environment`]: environment,
      [rebuild]: { state: 'building' },
    },
  })
  const part = within(await screen.findByRole('region', { name: 'Environment' }))
  return { server, part }
}

test('an environment shows when it was made, how long that took, its size, its log and what was left out', async () => {
  const { part } = await open(ready)
  expect(await part.findByText('Prepared 5m ago · took 42.3s · 512.4 MB')).toBeTruthy()
  expect(part.getByText('Left out, because they contain a secret of the project: .npmrc.')).toBeTruthy()
  expect(part.getByText('added 120 packages')).toBeTruthy()
})

test('a rebuild is asked for once, and the page follows it', async () => {
  const { server, part } = await open(ready)
  const button = await part.findByRole('button', { name: 'Rebuild' })
  server.answer({ [`GET ${path}/environment`]: { ...ready, state: 'building' } })
  fireEvent.click(button)
  await waitFor(() => expect(part.getByText(/^Preparing for /)).toBeTruthy())
  expect(server.of(rebuild)).toHaveLength(1)
  expect(button).toHaveProperty('disabled', true)
})

test('a failure says why, and that the earlier one is used', async () => {
  const reason = "The project's setup command ended with exit code 1."
  const { part } = await open({ ...ready, state: 'failed', reason, usesEarlier: true })
  const note = await part.findByRole('alert')
  expect(note.textContent).toContain(reason)
  expect(note.textContent).toContain('Tasks use the earlier one')
})

test.each([
  [['package-lock.json'], 'package-lock.json changed'],
  [['web/package-lock.json', 'go.sum'], 'web/package-lock.json and go.sum changed'],
  [['a/go.sum', 'b/go.sum', 'c/go.sum'], 'a/go.sum, b/go.sum and c/go.sum changed'],
  [[], 'a lock file changed'],
])('a rebuild in the background says because of what: %s', async (changed, why) => {
  const { part } = await open({ ...ready, changed })
  expect(await part.findByText(`Rebuilt because ${why}.`)).toBeTruthy()
})

test('a refused rebuild says why', async () => {
  const { server, part } = await open(none)
  const error = 'Other environments are being prepared. Try again in a few minutes.'
  server.answer({ [rebuild]: () => json(409, { error, code: 'conflict' }) })
  fireEvent.click(await part.findByRole('button', { name: 'Rebuild' }))
  expect(await screen.findByText(error)).toBeTruthy()
})

test('without a setup command there is nothing to rebuild', async () => {
  const { part } = await open(none, '')
  expect(await part.findByText('No setup command, so there is nothing to prepare.')).toBeTruthy()
  expect(part.queryByRole('button', { name: 'Rebuild' })).toBeNull()
})
