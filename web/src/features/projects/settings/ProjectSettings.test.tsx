// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { ShownSettings } from '#domain/api/projectSettings.schema.ts'
import { openPage } from '../../../../../tests/client/page.tsx'
import { projectOf } from '../../../../../tests/client/samples.ts'
import { json } from '../../../../../tests/client/server.ts'

const project = projectOf(1)
const path = `/projects/${project.id}`
const settings: ShownSettings = {
  setupCommand: 'npm ci',
  variables: [{ name: 'STAGE', value: 'test' }],
  secrets: [{ name: 'TOKEN', forAgent: true, updatedAt: project.createdAt }],
  egress: ['example.org'],
  modelFetches: false,
  feedback: { reviews: 'ask', checks: 'ask', triesPerCommit: 1, triesPerDay: 5, resolves: false },
  issues: { on: false, label: 'flightdeck', mentions: true },
  issuesUnread: null,
  issueDecisions: [],
}
const suggestions = [
  { host: 'packages.example', from: '.npmrc' },
  { host: 'example.org', from: 'pip.conf' },
]
const answers = {
  [`GET ${path}`]: { project },
  [`GET ${path}/settings`]: { settings, suggestions },
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
