/** MCP servers of a project or a person. No answer contains the value of a header or the tokens of a sign-in. */
import { z } from 'zod'
import { ProjectId } from '../kernel/ids.schema.ts'
import { McpServer } from '../mcp/mcpServers.ts'
import { saying } from '../kernel/readInput.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { required, Text } from './fields.schema.ts'
import { mcpLimits, mcpServerRoutes } from './mcpServers.ts'
import { EnvironmentName } from './projectSettings.schema.ts'

const Name = z
  .string()
  .max(mcpLimits.nameLength, { error: saying(`can have at most ${mcpLimits.nameLength} characters.`) })
  // Agents name a tool `mcp__<server>__<tool>`, so no server's name may contain two underscores.
  .regex(/^(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]*$/, 'Use letters, digits, hyphens and single underscores.')

const Word = Text.max(mcpLimits.wordLength)

const Url = Word.trim()
  .regex(
    /^https?:\/\/[^\s/?#@\\]+([/?][^\s#\\]*)?$/i,
    'Enter an address that begins with https:// or http://, without a password in it.',
  )
  .pipe(z.url('Enter an address with a valid name and port. It cannot contain variables.'))

/** Headers that people cannot set: those that the connection itself or MCP uses, and cookies. */
const reservedHeaders =
  /^(host|connection|content-.*|transfer-encoding|te|upgrade|accept.*|expect|mcp-.*|cookie)$/i

const HeaderName = z
  .string()
  .trim()
  .max(100)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'Enter the name of a header, such as Authorization.')
  .refine((name) => !reservedHeaders.test(name), 'This header cannot be set.')

const HeaderValue = z
  .string()
  .trim()
  .min(
    mcpLimits.valueAtLeast,
    'The value of a header needs at least 8 characters so that it can be redacted from output.',
  )
  .max(mcpLimits.valueLength)
  .regex(/^[\x20-\x7e]+$/, 'The value of a header has only printable ASCII characters.')

const ToolNames = z.array(z.string().min(1).max(mcpLimits.toolNameLength)).max(mcpLimits.tools)

const common = { name: Name, enabled: z.boolean(), toolsOff: ToolNames }
const local = {
  kind: z.literal('local'),
  command: required('Enter a command.', mcpLimits.wordLength),
  args: z.array(Word).max(mcpLimits.args),
  secrets: z.array(EnvironmentName).max(mcpLimits.secrets),
}
const none = z.object({ kind: z.literal('none') })

export const McpServerInput = z.discriminatedUnion('kind', [
  z.object({
    /** The id of an existing server; left out for a new server. */
    id: z.uuid().optional(),
    ...common,
    ...local,
  }),
  z.object({
    id: z.uuid().optional(),
    ...common,
    kind: z.literal('remote'),
    url: Url,
    auth: z.discriminatedUnion('kind', [
      none,
      z.object({
        kind: z.literal('header'),
        name: HeaderName,
        /** The value of the header; left out to keep the stored value. */
        value: HeaderValue.optional(),
      }),
      z.object({
        kind: z.literal('oauth'),
        /** The id of the OAuth client; left out when Flightdeck registers a client by itself. */
        clientId: required('Enter a client ID.', 500).nullable().default(null),
      }),
    ]),
  }),
])
export type McpServerInput = z.infer<typeof McpServerInput>

/** A server as answers show it: without the value of a header. */
export const ShownMcpServer = McpServer
export type ShownMcpServer = z.infer<typeof ShownMcpServer>

/** A server that the repository's `.mcp.json` suggests to people. `secrets` has the names of the variables that the server uses. */
export const SuggestedMcpServer = z.discriminatedUnion('kind', [
  z.object({
    name: z.string(),
    kind: z.literal('local'),
    command: z.string(),
    args: z.array(z.string()),
    secrets: z.array(z.string()),
  }),
  z.object({ name: z.string(), kind: z.literal('remote'), url: z.string(), header: z.string().nullable() }),
])
export type SuggestedMcpServer = z.infer<typeof SuggestedMcpServer>

/** The parts of a server's settings that the agent's program gets as arguments. */
const wordsOf = (server: McpServerInput): readonly unknown[] => [
  server.toolsOff.map((tool) => `mcp__${server.name}__${tool}`),
  server.kind === 'local' ? [server.command, server.args] : [],
]

const body = z.object({
  servers: z
    .array(McpServerInput)
    .max(mcpLimits.servers, { error: saying(`can have at most ${mcpLimits.servers} entries.`) })
    .refine(
      (servers) => new Set(servers.map(({ name }) => name.toLowerCase())).size === servers.length,
      'Two servers have the same name.',
    )
    .refine(
      (servers) => JSON.stringify(servers.map(wordsOf)).length <= mcpLimits.commandLength,
      'The commands and the switched-off tools of all servers together are too long.',
    ),
})

const servers = { servers: z.array(ShownMcpServer) }

/** The result of asking a server for its tools. */
export const McpTest = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('connected'),
    tools: z.array(z.object({ name: z.string(), description: z.string() })),
  }),
  z.object({ kind: z.literal('failed'), reason: z.string() }),
])
export type McpTest = z.infer<typeof McpTest>

/** The state of a server's sign-in. */
export const McpSignIn = z.object({
  serverId: z.string(),
  /** The host of the authorization server. */
  issuer: z.string(),
  since: z.iso.datetime(),
  isEnded: z.boolean(),
})
export type McpSignIn = z.infer<typeof McpSignIn>

const signIns = { signIns: z.array(McpSignIn) }

const params = z.object({ projectId: ProjectId })
const serverId = z.uuid()

export const getProjectMcpServers = defineRead(mcpServerRoutes.getProjectMcpServers, {
  summary: 'The MCP servers that agents of the project get, and those that the repository suggests.',
  params,
  answer: { ...servers, ...signIns, suggestions: z.array(SuggestedMcpServer) },
  faults: ['not_found'],
})

export const setProjectMcpServers = defineWrite(mcpServerRoutes.setProjectMcpServers, {
  summary: 'Replaces the MCP servers of the project.',
  params,
  body,
  answer: servers,
  faults: ['not_found'],
})

export const testProjectMcpServer = defineWrite(mcpServerRoutes.testProjectMcpServer, {
  summary: 'Connects to a remote MCP server of the project and reads its tools.',
  params: z.object({ projectId: ProjectId, serverId }),
  answer: { test: McpTest },
  faults: ['not_found'],
})

export const getOwnMcpServers = defineRead(mcpServerRoutes.getOwnMcpServers, {
  summary: 'The MCP servers that agents get in all tasks of the person.',
  answer: { ...servers, ...signIns },
})

export const setOwnMcpServers = defineWrite(mcpServerRoutes.setOwnMcpServers, {
  summary: "Replaces the person's MCP servers.",
  body,
  answer: servers,
  faults: ['not_found'],
})

export const testOwnMcpServer = defineWrite(mcpServerRoutes.testOwnMcpServer, {
  summary: 'Connects to a remote MCP server of the person and reads its tools.',
  params: z.object({ serverId }),
  answer: { test: McpTest },
  faults: ['not_found'],
})

const page = {
  /** The origin of the page that the person has open, to which the sign-in returns. */
  body: z.object({ origin: z.url().max(300) }),
  answer: { url: z.string() },
  faults: ['not_found', 'mcp_sign_in_failed'],
} as const
const ended = { answer: { success: z.literal(true) }, faults: ['not_found'] } as const

export const beginProjectMcpSignIn = defineWrite(mcpServerRoutes.beginProjectMcpSignIn, {
  summary: 'Begins to sign in at a remote MCP server of the project, and names the page to go on at.',
  params: z.object({ projectId: ProjectId, serverId }),
  ...page,
})

export const endProjectMcpSignIn = defineWrite(mcpServerRoutes.endProjectMcpSignIn, {
  summary: 'Signs out of a remote MCP server of the project.',
  params: z.object({ projectId: ProjectId, serverId }),
  ...ended,
})

export const beginOwnMcpSignIn = defineWrite(mcpServerRoutes.beginOwnMcpSignIn, {
  summary: 'Begins to sign in at a remote MCP server of the person, and names the page to go on at.',
  params: z.object({ serverId }),
  ...page,
})

export const endOwnMcpSignIn = defineWrite(mcpServerRoutes.endOwnMcpSignIn, {
  summary: 'Signs out of a remote MCP server of the person.',
  params: z.object({ serverId }),
  ...ended,
})

export const finishMcpSignIn = defineWrite(mcpServerRoutes.finishMcpSignIn, {
  summary: 'Ends a sign-in at an MCP server with what its page answered.',
  body: z.object({
    /** The query of the address to which the sign-in returned. */
    query: Text.max(16_000),
  }),
  answer: { name: z.string(), projectId: ProjectId.nullable() },
  faults: ['not_found', 'mcp_sign_in_failed'],
})
