// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { ShownMcpServer } from '#domain/api/mcpServers.schema.ts'
import { openPage } from '../../../../tests/client/page.tsx'
import { projectOf } from '../../../../tests/client/samples.ts'
import { json } from '../../../../tests/client/server.ts'

const project = projectOf(1)
const path = `/projects/${project.id}`
const tiny: ShownMcpServer = {
  id: '00000000-0000-4000-8000-000000000001',
  name: 'tiny',
  enabled: true,
  toolsOff: ['multiply'],
  kind: 'remote',
  url: 'https://tiny.example/mcp',
  auth: { kind: 'header', name: 'Authorization' },
}
const suggestion = { name: 'theirs', kind: 'local', command: 'npx', args: ['theirs'], secrets: ['KEY'] }
const settings = {
  modelKeys: [],
  setupCommand: '',
  variables: [],
  secrets: [],
  egress: [],
  modelFetches: false,
  allowedFilters: [],
  draftPullRequests: false,
  submodules: [],
  feedback: { reviews: 'ask', checks: 'ask', triesPerCommit: 1, triesPerDay: 5, resolves: false },
  issues: { on: false, label: 'flightdeck', mentions: true },
  issuesUnread: null,
  issueDecisions: [],
}
const put = `PUT ${path}/mcp-servers`
const open = async (servers: readonly ShownMcpServer[] = [tiny]) => {
  const server = openPage(`${path}/settings`, {
    answers: {
      [`GET ${path}`]: { project },
      [`GET ${path}/settings`]: { settings, suggestions: [] },
      [`GET ${path}/repository`]: { repository: null },
      [`GET ${path}/mcp-servers`]: { servers, suggestions: [suggestion] },
      [put]: { servers },
      [`POST ${path}/mcp-servers/${tiny.id}/test`]: {
        test: {
          kind: 'connected',
          tools: [
            { name: 'add', description: 'Adds' },
            { name: 'multiply', description: '' },
          ],
        },
      },
    },
  })
  const part = within(await screen.findByRole('region', { name: 'MCP Servers' }))
  await part.findByText(servers.length === 0 ? 'No MCP servers yet.' : 'tiny')
  const write = (label: string, value: string) =>
    fireEvent.change(part.getByLabelText(label), { target: { value } })
  const sent = async () => {
    await waitFor(() => expect(server.of(put)).toHaveLength(1))
    return server.of(put)[0]?.body
  }
  return { server, part, write, sent }
}

test('a remote server is added with a header, whose value is sent once', async () => {
  const { part, write, sent } = await open([])
  fireEvent.click(part.getByText('Add Server'))
  write('Name', 'tiny')
  write('Address', 'https://tiny.example/mcp')
  fireEvent.click(part.getByText('Header'))
  write('Value', 'Bearer swordfish')
  fireEvent.click(part.getByText('Save Server'))
  expect(await sent()).toEqual({
    servers: [
      {
        name: 'tiny',
        enabled: true,
        toolsOff: [],
        kind: 'remote',
        url: 'https://tiny.example/mcp',
        auth: { kind: 'header', name: 'Authorization', value: 'Bearer swordfish' },
      },
    ],
  })
})

test('a stored value is kept when the field stays empty, and a fault is told at its field', async () => {
  const { part, write, server } = await open()
  server.answer({
    [put]: () =>
      json(400, {
        error: 'Enter the value of the header.',
        code: 'invalid_input',
        field: 'servers.0.auth.value',
      }),
  })
  fireEvent.click(part.getByLabelText('Edit tiny'))
  write('Address', 'https://other.example/mcp')
  fireEvent.click(part.getByText('Save Server'))
  await part.findByText('Enter the value of the header.')
  expect(server.of(put)[0]?.body).toEqual({
    servers: [{ ...tiny, url: 'https://other.example/mcp', auth: { kind: 'header', name: 'Authorization' } }],
  })
})

test('a suggested server opens the form, and is added only when it is saved', async () => {
  const { part, sent, server } = await open()
  fireEvent.click(part.getByLabelText('Add theirs'))
  expect(part.getByLabelText('Command')).toHaveProperty('value', 'npx')
  expect(server.of(put)).toEqual([])
  fireEvent.click(part.getByText('Save Server'))
  expect(await sent()).toMatchObject({
    servers: [tiny, { name: 'theirs', args: ['theirs'], secrets: ['KEY'] }],
  })
})

test('a test lists the tools with their switches', async () => {
  const { part, sent } = await open()
  fireEvent.click(part.getByLabelText('Test tiny'))
  await part.findByText('Connected. 2 tools:')
  expect(part.getByRole('checkbox', { name: /multiply/ })).toHaveProperty('checked', false)
  fireEvent.click(part.getByRole('checkbox', { name: /add/ }))
  expect(await sent()).toEqual({ servers: [{ ...tiny, toolsOff: ['multiply', 'add'] }] })
})

test('a server is removed after a question', async () => {
  const { part, sent } = await open()
  fireEvent.click(part.getByLabelText('Remove tiny'))
  fireEvent.click(part.getByText('Remove Server'))
  expect(await sent()).toEqual({ servers: [] })
})
