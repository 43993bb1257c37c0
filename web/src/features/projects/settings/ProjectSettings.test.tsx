// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import type { ShownRepository, ShownSettings } from '#domain/api/projectSettings.schema.ts'
import { openPage } from '../../../../../tests/client/page.tsx'
import { projectOf, unsetSettings } from '../../../../../tests/client/samples.ts'
import { json } from '../../../../../tests/client/server.ts'

const project = projectOf(1)
const path = `/projects/${project.id}`
const settings: ShownSettings = {
  ...unsetSettings,
  setupCommand: 'npm ci',
  variables: [{ name: 'STAGE', value: 'test' }],
  secrets: [{ name: 'TOKEN', forAgent: true, updatedAt: project.createdAt }],
  egress: ['example.org'],
  allowedFilters: ['lfs'],
  submodules: ['ada/lib'],
}
const suggestions = [
  { host: 'packages.example', from: '.npmrc' },
  { host: 'example.org', from: 'pip.conf' },
]
const answers = {
  [`GET ${path}`]: { project },
  [`GET ${path}/settings`]: { settings, suggestions },
  [`GET ${path}/repository`]: { repository: null },
  [`PUT ${path}/settings`]: { settings },
}
const open = async () => {
  const server = openPage(`${path}/settings`, { answers })
  await screen.findByLabelText('Setup command')
  const part = (name: string) => within(screen.getByRole('region', { name }))
  const save = (name: string) => fireEvent.click(part(name).getByText('Save Changes'))
  const sent = async () => {
    await waitFor(() => expect(server.of(`PUT ${path}/settings`)).toHaveLength(1))
    return server.of(`PUT ${path}/settings`)[0]?.body
  }
  return { server, part, save, sent }
}

test('a part that is not changed cannot be saved, and is saved alone when it is', async () => {
  const { save, sent, server } = await open()
  save('Setup')
  expect(server.of(`PUT ${path}/settings`)).toEqual([])
  fireEvent.change(screen.getByLabelText('Setup command'), { target: { value: 'make' } })
  save('Setup')
  expect(await sent()).toEqual({ setupCommand: 'make' })
})

test('a key for models is sent with its address, and one that is stored is shown by its end', async () => {
  const { sent, server } = await open()
  const slot = within(await screen.findByRole('group', { name: 'Anthropic (Claude)' }))
  expect(slot.getByText("No key: the server's is used.")).toBeTruthy()
  fireEvent.click(slot.getByRole('button', { name: 'Add Key: Anthropic (Claude)' }))
  fireEvent.change(slot.getByLabelText('Base address'), {
    target: { value: ' https://gateway.example.org ' },
  })
  fireEvent.change(slot.getByLabelText('API key'), { target: { value: 'sk-gateway-0004' } })
  const stored = {
    provider: 'anthropic',
    baseUrl: 'https://gateway.example.org',
    ending: '0004',
    checked: true,
    setAt: project.createdAt,
  }
  const after = { settings: { ...settings, modelKeys: [stored] }, suggestions }
  server.answer({ [`GET ${path}/settings`]: after, [`PUT ${path}/settings`]: after })
  fireEvent.click(slot.getByRole('button', { name: 'Save Key' }))
  expect(await sent()).toEqual({
    modelKey: { provider: 'anthropic', baseUrl: 'https://gateway.example.org', value: 'sk-gateway-0004' },
  })
  expect(await slot.findByText(/^Key ending in 0004/)).toBeTruthy()
  expect(slot.getByText('https://gateway.example.org')).toBeTruthy()
})

test('an address that a project may not use says why', async () => {
  const why = "This address leads to the server's own machine."
  const { server } = await open()
  const slot = within(await screen.findByRole('group', { name: 'OpenAI (Codex)' }))
  server.answer({
    [`PUT ${path}/settings`]: () => json(400, { error: why, code: 'invalid_input', field: 'baseUrl' }),
  })
  fireEvent.click(slot.getByRole('button', { name: 'Add Key: OpenAI (Codex)' }))
  fireEvent.change(slot.getByLabelText('API key'), { target: { value: 'sk-0123456789' } })
  fireEvent.click(slot.getByRole('button', { name: 'Save Key' }))
  expect((await slot.findByRole('alert')).textContent).toBe(why)
})

test('a setup script and a secret that are too long stay whole, say by how much, and are not sent', async () => {
  const { part, save, server } = await open()
  fireEvent.change(screen.getByLabelText('Setup command'), { target: { value: 'm'.repeat(10_001) } })
  expect(screen.getByLabelText('Setup command')).toHaveProperty('value.length', 10_001)
  part('Setup').getByText('Too long by 1: at most 10,000 characters fit.')
  save('Setup')
  const secret = (label: string, value: string) =>
    fireEvent.change(part('Secrets').getByLabelText(label), { target: { value } })
  secret('Name', 'KEY')
  secret('Value', 'k'.repeat(8 * 1024 + 1))
  part('Secrets').getByText('Too long by 1: at most 8,192 characters fit.')
  fireEvent.click(part('Secrets').getByText('Set Secret'))
  expect(server.asked.filter(({ method }) => method !== 'GET')).toEqual([])
})

test('variables are added, changed and taken away', async () => {
  const { part, save, sent } = await open()
  const variables = part('Environment Variables')
  fireEvent.click(variables.getByText('Add Variable'))
  const write = (label: string, value: string) => {
    for (const field of variables.getAllByLabelText(label).slice(1))
      fireEvent.change(field, { target: { value } })
  }
  write('Name', ' REGION ')
  write('Value', 'north')
  fireEvent.click(variables.getByLabelText('Remove STAGE'))
  save('Environment Variables')
  expect(await sent()).toEqual({ variables: [{ name: 'REGION', value: 'north' }] })
})

test('a fault is told at the variable that has it', async () => {
  const { part, save, server } = await open()
  const fault = { error: 'This name is reserved.', code: 'invalid_input', field: 'variables.0.name' }
  server.answer({ [`PUT ${path}/settings`]: () => json(400, fault) })
  const variables = part('Environment Variables')
  fireEvent.change(variables.getByLabelText('Name'), { target: { value: 'PATH' } })
  save('Environment Variables')
  await waitFor(() => expect(variables.getByText('This name is reserved.')).toBeTruthy())
  expect(variables.getByLabelText('Name').getAttribute('aria-invalid')).toBe('true')
})

test('a secret shows its name alone, and is set without being shown again', async () => {
  const { part, server } = await open()
  server.answer({ [`PUT ${path}/secrets/KEY`]: { settings } })
  const secrets = part('Secrets')
  expect(secrets.getByText('TOKEN')).toBeTruthy()
  expect(secrets.getByText('Agent access')).toBeTruthy()
  fireEvent.change(secrets.getByLabelText('Name'), { target: { value: 'KEY' } })
  fireEvent.change(secrets.getByLabelText('Value'), { target: { value: 'first line\nsecond line' } })
  fireEvent.click(secrets.getByLabelText('Allow the agent to use it'))
  fireEvent.click(secrets.getByText('Set Secret'))
  await waitFor(() => expect(server.of(`PUT ${path}/secrets/KEY`)).toHaveLength(1))
  expect(server.of(`PUT ${path}/secrets/KEY`)[0]?.body).toEqual({
    value: 'first line\nsecond line',
    forAgent: true,
  })
  await waitFor(() => expect(secrets.getByLabelText('Value')).toHaveProperty('value', ''))
})

test('a secret is removed once that is confirmed', async () => {
  const { part, server } = await open()
  server.answer({ [`DELETE ${path}/secrets/TOKEN`]: { success: true } })
  fireEvent.click(part('Secrets').getByLabelText('Remove TOKEN'))
  fireEvent.click(await screen.findByText('Remove Secret'))
  await waitFor(() => expect(server.of(`DELETE ${path}/secrets/TOKEN`)).toHaveLength(1))
})

test('a suggested host is added with a click, and one that is there is not suggested', async () => {
  const { part, save, sent } = await open()
  const network = part('Network')
  expect(network.queryByText('Add example.org')).toBeNull()
  fireEvent.click(network.getByText('Add packages.example'))
  save('Network')
  expect(await sent()).toEqual({ egress: ['example.org', 'packages.example'], modelFetches: false })
})

test('finding 14: the model’s service is let out of the network’s rules by a tick, which says what that means', async () => {
  const { part, save, sent } = await open()
  const network = part('Network')
  const tick = network.getByRole('checkbox', { name: 'Allow web access through the model provider' })
  expect(tick).toHaveProperty('checked', false)
  expect(tick.getAttribute('aria-describedby')).toBe(network.getByText(/outside this project's network/).id)
  fireEvent.click(tick)
  save('Network')
  expect(await sent()).toEqual({ egress: ['example.org'], modelFetches: true })
})

test('issues become tasks by a label that is chosen, once that is on', async () => {
  const { part, save, sent } = await open()
  const issues = part('Issues')
  expect(issues.queryByLabelText('Label')).toBeNull()
  fireEvent.click(within(issues.getByRole('group', { name: 'Make tasks of issues' })).getByText('On'))
  fireEvent.change(issues.getByLabelText('Label'), { target: { value: ' robot ' } })
  fireEvent.click(issues.getByLabelText(/^Mentions of the GitHub App/))
  save('Issues')
  expect(await sent()).toEqual({ issues: { on: true, label: 'robot', mentions: false } })
})

test('the latest issues say what became of them, and lead to the issue and to its task', async () => {
  const url = 'https://code.example/ada/engine/issues/12'
  const decision = { number: 12, title: 'It is broken', url, at: project.createdAt, reason: null }
  const made = { ...decision, taskId: 't', trigger: 'label', author: 'grace', outcome: 'made' } as const
  const passed = { ...decision, url: `${url}3`, number: 123, taskId: null, trigger: null, author: null }
  const shown = { ...settings, issueDecisions: [made, { ...passed, outcome: 'not_known' }] }
  openPage(`${path}/settings`, {
    answers: { ...answers, [`GET ${path}/settings`]: { settings: shown, suggestions: [] } },
  })
  const latest = within(await screen.findByRole('region', { name: 'Latest issues' }))
  expect(latest.getByText('#12 It is broken').getAttribute('href')).toBe(url)
  expect(latest.getByText('Open task').getAttribute('href')).toBe('/tasks/t')
  expect(latest.getByText(/A task was made\. grace set the label\./)).toBeTruthy()
  expect(latest.getByText(/has no account on this server/)).toBeTruthy()
})

test('issues that cannot be read say why, and since when', async () => {
  const since = '2026-01-31T12:00:00.000Z'
  const issuesUnread = { reason: 'The App lacks the right to read issues.', since }
  const shown = { ...settings, issues: { ...settings.issues, on: true }, issuesUnread }
  openPage(`${path}/settings`, {
    answers: { ...answers, [`GET ${path}/settings`]: { settings: shown, suggestions: [] } },
  })
  const latest = within(await screen.findByRole('region', { name: 'Latest issues' }))
  expect(latest.getByRole('alert').textContent).toContain('The App lacks the right to read issues.')
  expect(latest.getByRole('alert').querySelector('time')?.dateTime).toBe(since)
  expect(latest.queryByText('No issue has asked for a task yet.')).toBeNull()
})

test('before the first issue there is a sentence in its place, where issues become tasks', async () => {
  const on = { ...settings, issues: { ...settings.issues, on: true } }
  openPage(`${path}/settings`, {
    answers: { ...answers, [`GET ${path}/settings`]: { settings: on, suggestions: [] } },
  })
  const latest = within(await screen.findByRole('region', { name: 'Latest issues' }))
  expect(latest.getByText('No issue has asked for a task yet.')).toBeTruthy()
})

test('repository F1: filters that may go unapplied are sent as a list of names', async () => {
  const { part, save, sent } = await open()
  const box = part('Unfiltered Files').getByLabelText('Filters that may go unapplied')
  expect(box).toHaveProperty('value', 'lfs')
  fireEvent.change(box, { target: { value: 'lfs\ngit-crypt, lfs' } })
  save('Unfiltered Files')
  expect(await sent()).toEqual({ allowedFilters: ['lfs', 'git-crypt'] })
})

test('github gap 10: drafts are opened by tasks once that is switched on', async () => {
  const { part, save, sent } = await open()
  const box = part('Pull Requests').getByRole('checkbox')
  expect(box).toHaveProperty('checked', false)
  fireEvent.click(box)
  save('Pull Requests')
  expect(await sent()).toEqual({ draftPullRequests: true })
})

describe('the repository', () => {
  const submodule = (
    path: string,
    repository: string,
    access: ShownRepository['submodules'][number]['access'],
  ) => ({ path, repository, access })
  const of = (repository: Partial<ShownRepository>) => ({
    ...answers,
    [`GET ${path}/repository`]: {
      repository: {
        submodules: [],
        submoduleCount: 0,
        filters: [],
        isShallow: false,
        hooks: null,
        ...repository,
      },
    },
  })
  const opened = async (repository: Partial<ShownRepository>) => {
    const server = openPage(`${path}/settings`, { answers: of(repository) })
    const part = within(await screen.findByRole('region', { name: 'Repository' }))
    await waitFor(() => expect(part.queryByText('Looking at the repository...')).toBeNull())
    return { server, part }
  }

  test('repository F2: one that was not looked at yet says so', async () => {
    const { part } = await open()
    expect(await part('Repository').findByText('Not known yet. The next task will show it.')).toBeTruthy()
  })

  test('repository F2: a plain one has nothing to tell', async () => {
    const { part } = await opened({})
    expect(part.getByText('No submodules, no filters, and the whole history: as in any clone.')).toBeTruthy()
  })

  test('repository F2: submodules are told of with what is fetched and why not, and private ones are chosen with one click', async () => {
    const { server, part } = await opened({
      submodules: [
        submodule('open', 'ada/open', 'public'),
        submodule('lib', 'Ada/Lib', 'private'),
        submodule('core', 'Ada/Core', 'private'),
        submodule('far', 'https://example.com/x/far.git', 'elsewhere'),
        submodule('gone', 'grace/gone', 'hidden'),
      ],
      submoduleCount: 7,
    })
    const rowOf = (name: string) => part.getByText(name).closest('li')?.textContent
    expect(rowOf('open')).toContain('Fetched: it is public.')
    expect(rowOf('lib')).toContain("Fetched with your access, as this project's owner chose.")
    expect(rowOf('core')).toContain('Not fetched: it is private.')
    expect(rowOf('far')).toContain('Not fetched: it is on another host.')
    expect(rowOf('gone')).toContain('Not fetched: your account may not read it')
    part.getByText('2 more submodules are not shown.')
    fireEvent.click(part.getByText('Fetch these submodules'))
    await waitFor(() => expect(server.of(`PUT ${path}/settings`)).toHaveLength(1))
    expect(server.of(`PUT ${path}/settings`)[0]?.body).toEqual({ submodules: ['ada/lib', 'ada/core'] })
  })

  test('repository F2: what was chosen is taken back with one click', async () => {
    const { server, part } = await opened({
      submodules: [submodule('lib', 'ada/lib', 'private')],
      submoduleCount: 1,
    })
    expect(part.queryByText('Fetch these submodules')).toBeNull()
    fireEvent.click(part.getByText('Stop fetching private submodules'))
    await waitFor(() => expect(server.of(`PUT ${path}/settings`)).toHaveLength(1))
    expect(server.of(`PUT ${path}/settings`)[0]?.body).toEqual({ submodules: [] })
  })

  test('repository F1, F2: Git LFS, other filters and a shallow history are told of', async () => {
    const { part } = await opened({ filters: ['lfs', 'git-crypt', 'sops'], isShallow: true })
    const facts = [
      /^Git LFS: /,
      /^Files go through a filter that is not run here \(git-crypt, sops\)/,
      /^Shallow: /,
    ]
    for (const fact of facts) expect(part.getByText(fact)).toBeTruthy()
  })

  const stop = { event: 'Stop', hook: { type: 'command', command: 'npm test' } } as const
  const shown = { kind: 'shown' as const, hash: 'b'.repeat(64), hooks: [stop] }
  const hooksPart = async (hooks: ShownRepository['hooks'], allowed: string | null) => {
    const allowedHooks = allowed === null ? null : { hash: allowed, since: project.createdAt }
    const server = openPage(`${path}/settings`, {
      answers: {
        ...of({ hooks }),
        [`GET ${path}/settings`]: { settings: { ...settings, allowedHooks }, suggestions },
      },
    })
    const part = within(await screen.findByRole('region', { name: 'Hooks' }))
    const sent = async () => {
      await waitFor(() => expect(server.of(`PUT ${path}/settings`)).toHaveLength(1))
      return server.of(`PUT ${path}/settings`)[0]?.body
    }
    return { part, sent }
  }

  test('hooks that have changed since they were allowed ask again', async () => {
    const { part, sent } = await hooksPart(shown, 'a'.repeat(64))
    await part.findByText(/The file has changed/)
    part.getByText('npm test')
    part.getByText(/You allowed version aaaaaaaaaaaa/)
    fireEvent.click(part.getByText('Allow These Hooks'))
    expect(await sent()).toEqual({ allowedHooks: { hash: shown.hash } })
  })

  test('allowed hooks can be forbidden when the default branch has none any more', async () => {
    const { part, sent } = await hooksPart(null, 'a'.repeat(64))
    await part.findByText('The default branch has no hooks now.')
    expect(part.queryByText('Allow These Hooks')).toBeNull()
    fireEvent.click(part.getByText('Forbid Again'))
    expect(await sent()).toEqual({ allowedHooks: null })
  })

  test('hooks that cannot be allowed say why', async () => {
    const { part } = await hooksPart({ kind: 'refused', reason: 'they are more than 50' }, null)
    part.getByText("The hooks of the default branch can't be allowed: they are more than 50.")
    expect(part.queryAllByRole('button')).toEqual([])
  })
})
