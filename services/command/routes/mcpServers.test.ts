/** The credentials of MCP servers that are removed. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { setOwnMcpServers } from '#domain/api/mcpServers.schema.ts'
import { userStream } from '#domain/kernel/streams.ts'
import type { McpServer } from '#domain/mcp/mcpServers.ts'
import { PersonMcpServersChosen, UserRegistered } from '#domain/user/events.ts'
import { user } from '#domain/user/user.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { sessionId, userId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { mcpServerRoutes } from './mcpServers.ts'

const id = userId(1)
const server: McpServer = {
  id: randomUUID(),
  name: 'tiny',
  enabled: true,
  toolsOff: [],
  kind: 'remote',
  url: 'https://mcp.example.org/mcp',
  auth: { kind: 'oauth', clientId: null },
}
let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
  const history = [
    UserRegistered.of({ userId: id }, { name: 'Ada', email: null }),
    PersonMcpServersChosen.of({}, { servers: [server] }),
  ]
  await engines.log.append(userStream(id), emptyHead, history, cause())
})
afterEach(() => engines.close())

test('a removal that fails because a sign-in cannot be ended ends it when it is repeated', async () => {
  const ended: string[] = []
  let isAway = true
  const services = {
    ...engines,
    documents: {
      ...engines.documents,
      get: async () => ({ id, onboardingCompleted: true, endedSessions: [] }),
    },
    projected: { waitFor: async () => true },
    mcpSignIns: {
      async end(_owner: string, serverId: string) {
        if (isAway) throw new EngineUnavailable('the vault')
        ended.push(serverId)
      },
    },
  }
  const request = {
    call: setOwnMcpServers,
    params: {},
    query: {},
    body: { servers: [] },
    identity: { userId: id, sessionId: sessionId(1) },
    commandId: randomUUID(),
  }
  const remove = () =>
    mcpServerRoutes
      .find(({ call }) => call === setOwnMcpServers)
      ?.serve(request as never, services as never, async () => ({ again: false }))
  await expect(remove()).rejects.toThrow(EngineUnavailable)
  isAway = false
  expect(await remove()).toMatchObject({ servers: [] })
  expect(ended).toEqual([server.id])
  expect((await engines.commands.load(user, userStream(id))).state).toMatchObject({ mcpServers: [] })
})
