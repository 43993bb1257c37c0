/** Remote MCP servers as they were recorded, also by versions that checked less. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { userStream } from '#domain/kernel/streams.ts'
import type { McpServer } from '#domain/mcp/mcpServers.ts'
import { user } from '#domain/user/user.ts'
import { ruleOf } from '#platform/http/egressRules.ts'
import { sessionId, userId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { remoteServerOf } from './runServers.ts'

const codeHost = ruleOf('code.example', { mayBeInside: false })
const unused = () => Promise.reject(new Error('unused'))
const mcpSignIns = {
  begin: unused,
  begun: unused,
  complete: unused,
  shown: async () => [],
  token: unused,
  end: unused,
}
const egress = {
  agentHosts: {},
  mayReachPrivate: false,
  privateHosts: [],
  open: unused,
  onRefusalOf: () => () => undefined,
  refused: () => undefined,
}

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

/** The server of a person who has chosen one at this address. */
async function chosenAt(url: string) {
  const [id, serverId] = [userId(1), randomUUID()]
  const signedIn = {
    type: 'Register',
    userId: id,
    name: 'Pat',
    email: 'pat@example.com',
    credentialId: randomUUID(),
    sessionId: sessionId(1),
    startsAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-08T00:00:00.000Z',
    client: null,
  } as const
  const server: McpServer = {
    id: serverId,
    name: 'one',
    enabled: true,
    toolsOff: [],
    kind: 'remote',
    url,
    auth: { kind: 'none' },
  }
  const command = { type: 'ChooseMcpServers', servers: [server] } as const
  await engines.commands.execute(user, userStream(id), signedIn, cause())
  await engines.commands.execute(user, userStream(id), command, cause())
  return remoteServerOf({ ...engines, mcpSignIns, egress }, { of: 'person', id, serverId }, codeHost)
}

test('a server is reached at its address', async () => {
  const url = 'https://mcp.example.org/mcp'
  expect(await chosenAt(url)).toMatchObject({ name: 'one', url })
})

test.each(['http://localhost:${PORT}/mcp', 'https://mcp.example.org:99999/mcp'])(
  'a server is left out whose address nothing can be sent to: %s',
  async (url) => {
    expect(await chosenAt(url)).toBe('Its address is not valid. Correct it in the settings.')
  },
)
