/** Which addresses MCP servers may have, and how much they may add to the arguments of an agent's program. */
import { expect, test } from 'vitest'
import { setProjectMcpServers } from './mcpServers.schema.ts'

const remote = (name: string, toolsOff: readonly string[]) => ({
  kind: 'remote',
  name,
  enabled: true,
  toolsOff,
  url: 'https://mcp.example.org/',
  auth: { kind: 'none' },
})
const local = (name: string, args: readonly string[]) => ({
  kind: 'local',
  name,
  enabled: true,
  toolsOff: [],
  command: 'npx',
  args,
  secrets: [],
})
const messagesOf = (servers: readonly object[]) =>
  setProjectMcpServers.body?.safeParse({ servers }).error?.issues.map(({ message }) => message) ?? []
const tools = (count: number) => Array.from({ length: count }, (_, index) => `${'t'.repeat(100)}${index}`)

test('some servers with a few tools switched off are fine', () => {
  expect(messagesOf([remote('one', tools(100)), remote('two', tools(100)), local('three', ['x'])])).toEqual(
    [],
  )
})

test.each([
  ['switched-off tools', Array.from({ length: 4 }, (_, index) => remote(`server${index}`, tools(200)))],
  ['arguments', Array.from({ length: 12 }, (_, index) => local(`server${index}`, tools(50)))],
])('too many %s are refused together', (_, servers) => {
  expect(messagesOf(servers)).toEqual([
    'The commands and the switched-off tools of all servers together are too long.',
  ])
})

test.each(['http://localhost:${PORT}/mcp', 'https://mcp.example.org:99999/mcp', 'https://[mcp]/'])(
  'an address that nothing can be sent to is refused: %s',
  (url) => {
    expect(messagesOf([{ ...remote('one', []), url }])).toEqual([
      'Enter an address with a valid name and port. It cannot contain variables.',
    ])
  },
)
