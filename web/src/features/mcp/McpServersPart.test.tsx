// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import type { McpSignIn, ShownMcpServer } from '#domain/api/mcpServers.schema.ts'
import { openPage } from '../../../../tests/client/page.tsx'
import { projectOf, unsetSettings } from '../../../../tests/client/samples.ts'
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
const put = `PUT ${path}/mcp-servers`
const open = async (servers: readonly ShownMcpServer[] = [tiny], signIns: readonly McpSignIn[] = []) => {
  const server = openPage(`${path}/settings`, {
    answers: {
      [`GET ${path}`]: { project },
      [`GET ${path}/settings`]: { settings: unsetSettings, suggestions: [] },
      [`GET ${path}/repository`]: { repository: null },
      [`GET ${path}/mcp-servers`]: { servers, signIns, suggestions: [suggestion] },
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

test.each(['Edit tiny', 'Add theirs', 'Add Server'])(
  'the form that %j opens has the focus, and gives it back',
  async (name) => {
    const { part } = await open()
    fireEvent.click(part.getByRole('button', { name }))
    expect(document.activeElement).toBe(part.getByLabelText('Name'))
    fireEvent.click(part.getByRole('button', { name: 'Cancel' }))
    expect(document.activeElement).toBe(part.getByRole('button', { name }))
  },
)

test('a test lists the tools with their switches', async () => {
  const { part, sent } = await open()
  fireEvent.click(part.getByLabelText('Test tiny'))
  await part.findByText('Connected. 2 tools:')
  expect(part.getByRole('checkbox', { name: /multiply/ })).toHaveProperty('checked', false)
  fireEvent.click(part.getByRole('checkbox', { name: /add/ }))
  expect(await sent()).toEqual({ servers: [{ ...tiny, toolsOff: ['multiply', 'add'] }] })
})

const signedIn = { ...tiny, auth: { kind: 'oauth', clientId: null } } as const
const signIn = { serverId: tiny.id, issuer: 'login.example', since: '2026-11-20T10:00:00Z', isEnded: false }

test('a server is added to sign in at, with a client ID if one is entered', async () => {
  const { part, write, sent } = await open([])
  fireEvent.click(part.getByText('Add Server'))
  write('Name', 'tiny')
  write('Address', 'https://tiny.example/mcp')
  fireEvent.click(part.getByText('Sign-In'))
  write('Client ID (optional)', ' a-client ')
  fireEvent.click(part.getByText('Save Server'))
  expect(await sent()).toMatchObject({ servers: [{ auth: { kind: 'oauth', clientId: 'a-client' } }] })
})

test('a server that nobody has signed in at is not tested, and says why it cannot be signed in at', async () => {
  const { part, server } = await open([signedIn])
  expect(part.queryByLabelText('Test tiny')).toBeNull()
  server.answer({
    [`POST ${path}/mcp-servers/${tiny.id}/sign-in`]: () =>
      json(422, { error: 'Signing in to tiny failed. It cannot be reached.', code: 'mcp_sign_in_failed' }),
  })
  fireEvent.click(part.getByLabelText('Sign In: tiny'))
  await part.findByText('Signing in to tiny failed. It cannot be reached.')
})

test('a sign-in tells where and since when, and can be ended', async () => {
  const { part, server } = await open([signedIn], [signIn])
  part.getByText(/^Signed in at login.example since Nov 20, 2026/)
  const out = `DELETE ${path}/mcp-servers/${tiny.id}/sign-in`
  server.answer({
    [out]: { success: true },
    [`GET ${path}/mcp-servers`]: { servers: [signedIn], signIns: [], suggestions: [] },
  })
  fireEvent.click(part.getByLabelText('Sign Out: tiny'))
  await part.findByText('Not signed in. Agents get its tools once you are.')
  expect(server.of(out)).toHaveLength(1)
})

test('a sign-in that has ended says so', async () => {
  const { part } = await open([signedIn], [{ ...signIn, isEnded: true }])
  part.getByText(/^The sign-in at login.example has ended/)
  part.getByLabelText('Sign In Again: tiny')
  expect(part.queryByLabelText('Test tiny')).toBeNull()
})

test('a page that a sign-in returned to posts the answer once, without the address, and leads back', async () => {
  const done = { name: 'tiny', projectId: project.id }
  const server = openPage('/mcp/callback?code=c&state=s', {
    answers: { 'POST /mcp-sign-in': done, [`GET ${path}`]: { project } },
  })
  await screen.findByText('Signed in to tiny')
  expect(server.of('POST /mcp-sign-in').map(({ body }) => body)).toEqual([{ query: '?code=c&state=s' }])
})

test('a server is removed after a question', async () => {
  const { part, sent } = await open()
  fireEvent.click(part.getByLabelText('Remove tiny'))
  fireEvent.click(part.getByText('Remove Server'))
  expect(await sent()).toEqual({ servers: [] })
})

const other: ShownMcpServer = { ...tiny, id: '00000000-0000-4000-8000-000000000002', name: 'other' }

describe('a server that was added elsewhere meanwhile is kept', () => {
  const openWithOther = async () => {
    const opened = await open()
    opened.server.answer({
      [`GET ${path}/mcp-servers`]: { servers: [other, tiny], signIns: [], suggestions: [] },
    })
    return opened
  }

  test('by a switch', async () => {
    const { part, sent } = await openWithOther()
    fireEvent.click(part.getByRole('checkbox', { name: 'Use tiny' }))
    expect(await sent()).toEqual({ servers: [other, { ...tiny, enabled: false }] })
  })

  test('by the form', async () => {
    const { part, write, sent } = await openWithOther()
    fireEvent.click(part.getByLabelText('Edit tiny'))
    write('Address', 'https://tiny.example/v2')
    fireEvent.click(part.getByText('Save Server'))
    expect(await sent()).toEqual({ servers: [other, { ...tiny, url: 'https://tiny.example/v2' }] })
  })
})

test('a server that was removed elsewhere stays with what was typed, until its form is closed', async () => {
  const { part, write, server } = await open()
  server.answer({
    [`GET ${path}/mcp-servers`]: { servers: [], signIns: [], suggestions: [] },
    [put]: () => json(400, { error: 'There is no such server any more.', code: 'invalid_input' }),
  })
  fireEvent.click(part.getByLabelText('Edit tiny'))
  write('Address', 'https://tiny.example/v2')
  fireEvent.click(part.getByText('Save Server'))
  await screen.findByText('There is no such server any more.')
  expect(part.getByLabelText('Address')).toHaveProperty('value', 'https://tiny.example/v2')
  fireEvent.click(part.getByText('Cancel'))
  expect(part.getByText('No MCP servers yet.')).toBeTruthy()
})

test('a change of a list that cannot be read is not saved, and says so', async () => {
  const { part, server } = await open()
  server.answer({ [`GET ${path}/mcp-servers`]: () => json(503, { error: 'Not just now.' }) })
  fireEvent.click(part.getByRole('checkbox', { name: 'Use tiny' }))
  await screen.findByText('Failed to save MCP servers')
  expect(server.of(put)).toEqual([])
})

test('a switch waits until the change before it is saved, and keeps that change', async () => {
  let listed = [tiny, other]
  const { part, server } = await open(listed)
  let saved: (answer: unknown) => void = () => undefined
  server.answer({
    [put]: () =>
      new Promise((resolve) => {
        saved = resolve
      }),
    [`GET ${path}/mcp-servers`]: () => ({ servers: listed, signIns: [], suggestions: [] }),
  })
  const second = part.getByRole('checkbox', { name: 'Use other' })
  fireEvent.click(part.getByRole('checkbox', { name: 'Use tiny' }))
  await waitFor(() => expect(second.getAttribute('aria-disabled')).toBe('true'))
  await waitFor(() => expect(server.of(put)).toHaveLength(1))
  const tinyOff = { ...tiny, enabled: false }
  listed = [tinyOff, other]
  saved({ servers: listed })
  await waitFor(() => expect(second.getAttribute('aria-disabled')).toBeNull())
  fireEvent.click(second)
  await waitFor(() => expect(server.of(put)).toHaveLength(2))
  expect(server.of(put)[1]?.body).toEqual({ servers: [tinyOff, { ...other, enabled: false }] })
})
