// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { DetectedEnvironment, ShownSettings } from '#domain/api/projectSettings.schema.ts'
import { openPage } from '../../../../../tests/client/page.tsx'
import { projectOf, unsetSettings } from '../../../../../tests/client/samples.ts'
import { json } from '../../../../../tests/client/server.ts'

const project = projectOf(1)
const path = `/projects/${project.id}`
const nothing: DetectedEnvironment = {
  found: [],
  setupCommand: '',
  hosts: [],
  variables: [],
  ports: [],
  notes: [],
}
const usual: DetectedEnvironment = {
  found: [{ file: 'package-lock.json', says: 'Packages of npm' }],
  setupCommand: 'set -e\nnpm ci\necho \u001B[31m\u202E',
  hosts: [{ host: 'registry.npmjs.org', from: 'package-lock.json' }],
  variables: [{ name: 'STAGE', value: 'test' }],
  ports: [3000, 5432],
  notes: ['Features are not installed: ghcr.io/x.'],
}
const suggestions = [
  { host: 'packages.example', from: '.npmrc' },
  { host: 'ada/lib', from: '.gitmodules: lib' },
]
const repository = (detected: DetectedEnvironment | undefined) => ({
  repository: {
    submodules: [],
    submoduleCount: 0,
    filters: [],
    isShallow: false,
    hooks: null,
    ...(detected && { detected }),
  },
})

const open = async (answer: unknown, settings: Partial<ShownSettings> = {}) => {
  const server = openPage(`${path}/settings`, {
    answers: {
      [`GET ${path}`]: { project },
      [`GET ${path}/settings`]: { settings: { ...unsetSettings, ...settings }, suggestions },
      [`GET ${path}/repository`]: answer,
    },
  })
  const part = within(await screen.findByRole('region', { name: 'Detected' }))
  const sent = async () => {
    await waitFor(() => expect(server.of(`PUT ${path}/settings`)).toHaveLength(1))
    return server.of(`PUT ${path}/settings`)[0]?.body
  }
  return { server, part, sent }
}

test('what was found and the whole proposal are shown, and one click uses it', async () => {
  // The store tells its subscribers of what was read in the next frame, which can be later than the end of the read.
  vi.stubGlobal('requestAnimationFrame', (callback: () => void) => setTimeout(callback, 300))
  onTestFinished(() => void vi.unstubAllGlobals())

  const { server, part, sent } = await open(repository(usual))
  await part.findByText('Packages of npm')
  const group = (name: string) => part.getByRole('group', { name }).textContent
  expect(group('Proposed setup')).toContain(String.raw`set -e
npm ci
echo \u001b[31mU+202E`)
  expect(group('Proposed hosts')).toMatch(
    /registry\.npmjs\.org for package-lock\.json.*packages\.example for \.npmrc$/,
  )
  expect(group('Proposed variables')).toContain('STAGE=test')
  part.getByText('Ports of its programs: 3000, 5432')
  part.getByText('Features are not installed: ghcr.io/x.')
  const saved = {
    setupCommand: usual.setupCommand,
    variables: usual.variables,
    egress: ['registry.npmjs.org', 'packages.example'],
  }
  const after = { settings: { ...unsetSettings, ...saved }, suggestions }
  server.answer({ [`PUT ${path}/settings`]: after, [`GET ${path}/settings`]: after })
  fireEvent.click(part.getByText('Use This'))
  expect(await sent()).toEqual(saved)
  await part.findByText('The settings have all that is proposed.')
  // The forms begin from what was saved.
  await waitFor(() =>
    expect(screen.getByLabelText('Setup command')).toHaveProperty('value', usual.setupCommand),
  )
  expect(screen.getByLabelText('Allowed hosts')).toHaveProperty('value', saved.egress.join('\n'))
})

test('edits that were not saved stay when a proposal is used', async () => {
  const { server, part, sent } = await open(repository(usual))
  const [command, fetches] = [
    screen.getByLabelText('Setup command'),
    screen.getByRole('checkbox', { name: /model/i }),
  ]
  fireEvent.change(command, { target: { value: 'make edited' } })
  fireEvent.click(fetches)
  const after = {
    settings: { ...unsetSettings, setupCommand: usual.setupCommand, variables: usual.variables },
    suggestions,
  }
  server.answer({ [`PUT ${path}/settings`]: after, [`GET ${path}/settings`]: after })
  fireEvent.click(await part.findByText('Use This'))
  await sent()
  await waitFor(() => expect(screen.getByDisplayValue('STAGE')).toBeTruthy())
  expect(command).toHaveProperty('value', 'make edited')
  expect(fetches).toHaveProperty('checked', true)
})

test('what is set is replaced only after a confirmation, and the rest stays', async () => {
  const { server, part, sent } = await open(repository(usual), {
    setupCommand: 'make',
    variables: [
      { name: 'STAGE', value: 'live' },
      { name: 'REGION', value: 'north' },
    ],
    egress: ['example.org', 'registry.npmjs.org'],
  })
  fireEvent.click(await part.findByText('Use This'))
  await part.findByText(/^This replaces the setup command, the variable STAGE\./)
  expect(server.of(`PUT ${path}/settings`)).toEqual([])
  server.answer({ [`PUT ${path}/settings`]: { settings: unsetSettings } })
  fireEvent.click(part.getByText('Replace'))
  expect(await sent()).toEqual({
    setupCommand: usual.setupCommand,
    variables: [
      { name: 'STAGE', value: 'test' },
      { name: 'REGION', value: 'north' },
    ],
    egress: ['example.org', 'registry.npmjs.org', 'packages.example'],
  })
})

test('a proposal that is refused is told of, and can be used again', async () => {
  const { server, part } = await open(repository(usual))
  const why = 'egress can have at most 200 hosts.'
  server.answer({
    [`PUT ${path}/settings`]: () => json(400, { error: why, code: 'invalid_input', field: 'egress' }),
  })
  fireEvent.click(await part.findByText('Use This'))
  expect(await screen.findByText(why)).toBeTruthy()
  await waitFor(() => expect(part.getByText('Use This').closest('button')).toHaveProperty('disabled', false))
})

test('a repository that no runner has fetched is not known yet', async () => {
  const { part } = await open({ repository: null })
  expect(await part.findByText('Not known yet. The next task will show it.')).toBeTruthy()
})

test('a repository that was looked at by an earlier version is not known', async () => {
  const { part } = await open(repository(undefined))
  expect(await part.findByText('Not known yet. The next task will show it.')).toBeTruthy()
})

test('a repository without known files says so', async () => {
  const { part } = await open(repository(nothing))
  expect(await part.findByText(/^The repository has none of the files/)).toBeTruthy()
})

test('notes alone are shown without a button', async () => {
  const note = '.devcontainer.json is larger than 256 KiB and is not read.'
  const { part } = await open(repository({ ...nothing, notes: [note] }))
  expect(await part.findByText(note)).toBeTruthy()
  expect(part.queryByText('Use This')).toBeNull()
})

test('a failed read says why, and reads again', async () => {
  const { server, part } = await open(() => json(500, { error: 'It broke.', code: 'internal' }))
  fireEvent.click(await part.findByText('Try Again'))
  server.answer({ [`GET ${path}/repository`]: repository(nothing) })
  await waitFor(() => expect(server.of(`GET ${path}/repository`).length).toBeGreaterThan(1))
})
