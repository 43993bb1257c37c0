/** The routes that change and test MCP servers. The value of a header is stored in the vault, and never in an event. */
import { v5 as uuidv5 } from 'uuid'
import {
  setOwnMcpServers,
  setProjectMcpServers,
  testOwnMcpServer,
  testProjectMcpServer,
  type McpServerInput,
  type McpTest,
} from '#domain/api/mcpServers.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream, userStream } from '#domain/kernel/streams.ts'
import type { McpServer } from '#domain/mcp/mcpServers.ts'
import { projectDecider } from '#domain/project/project.ts'
import { user } from '#domain/user/user.ts'
import { mcpServersView } from '#domain/views/mcpServers.ts'
import type { Executed } from '#platform/commands/execute.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import type { RpcRequest } from '#platform/ports/rpc.ts'
import { executeOnProject, ownProject, route, written, type CommandServices } from '../services.ts'

export const mcpServerRoutes: readonly Route<CommandServices>[] = [
  route(setProjectMcpServers, signedIn, ownProject, async ({ params, body, ...request }, services) => {
    const { projectId: id } = params
    const stream = projectStream(id)
    const { state } = await services.commands.load(projectDecider, stream)
    const isNew = !(await services.commands.hasTakenEffect(projectDecider, stream, request.commandId))
    return chosen(services, body.servers, {
      id,
      stream,
      isNew,
      commandId: request.commandId,
      before: state.kind === 'project' ? state.mcpServers : [],
      execute: (servers) => executeOnProject(services, id, request, { type: 'ChooseMcpServers', servers }),
    })
  }),
  route(setOwnMcpServers, signedIn, async ({ body, ...request }, services) => {
    const { actor, commandId } = request
    const { id } = request.user
    const stream = userStream(id)
    const { state } = await services.commands.load(user, stream)
    const isNew = !(await services.commands.hasTakenEffect(user, stream, commandId))
    return chosen(services, body.servers, {
      id,
      stream,
      isNew,
      commandId,
      before: state.kind === 'user' ? state.mcpServers : [],
      execute: (servers) =>
        services.commands.execute(user, stream, { type: 'ChooseMcpServers', servers }, { actor, commandId }),
    })
  }),
  route(
    testProjectMcpServer,
    signedIn,
    ownProject,
    async ({ params: { projectId: id, serverId }, user: { id: ownerId } }, services) => ({
      test: await tested(services, projectStream(id), { of: 'project', id, serverId, ownerId }),
    }),
  ),
  route(testOwnMcpServer, signedIn, async ({ params: { serverId }, user: { id } }, services) => ({
    test: await tested(services, userStream(id), { of: 'person', id, serverId, ownerId: id }),
  })),
]

interface Choice {
  /** The id of the project or the person. */
  readonly id: string
  readonly stream: string
  /** False for a repeated request whose command already took effect. */
  readonly isNew: boolean
  readonly commandId: string
  readonly before: readonly McpServer[]
  execute(servers: readonly McpServer[]): Promise<Executed<unknown>>
}

async function chosen(services: CommandServices, inputs: readonly McpServerInput[], choice: Choice) {
  const { id, before, isNew } = choice
  const identified = inputs.map((input, index) => ({
    input,
    id: keptId(input, before) ?? uuidv5(String(index), choice.commandId),
  }))
  const servers = identified.map((one) => serverOf(one.input, one.id))
  if (isNew) {
    inputs.forEach((input, index) => refuseUnknown(input, index, before))
    // The values of headers are stored before the servers are recorded. A value without a server does no harm, but a server without its value fails.
    for (const one of identified) {
      const value = valueIn(one.input)
      if (value !== undefined && !(await services.mcpHeaders.set(id, one.id, value)))
        throw new Fault('not_found')
    }
    // Credentials end before their server is gone, because a repeated request no longer finds it. All servers are handled at once, because each may
    // have to wait for its authorization server.
    await Promise.all(
      before.map(async (old) => {
        const now = servers.find((server) => server.id === old.id)
        if (hasHeader(old) && !hasHeader(now)) await services.mcpHeaders.remove(id, old.id)
        const url = signInUrl(old)
        if (url !== undefined && url !== signInUrl(now)) await services.mcpSignIns.end(id, old.id)
      }),
    )
  }
  const executed = await choice.execute(servers)
  const placed = await written(executed.position, services)
  const document = await services.documents.asOf(mcpServersView, choice.stream, id, executed.head)
  return { servers: [...(document?.servers ?? [])], ...placed }
}

function serverOf(input: McpServerInput, id: string): McpServer {
  if (input.kind === 'local') return { ...input, id }
  const { auth } = input
  return { ...input, id, auth: auth.kind === 'header' ? { kind: 'header', name: auth.name } : auth }
}

const valueIn = (input: McpServerInput) =>
  input.kind === 'remote' && input.auth.kind === 'header' ? input.auth.value : undefined

const hasHeader = (server?: McpServer) => server?.kind === 'remote' && server.auth.kind === 'header'
const signInUrl = (server?: McpServer) =>
  server?.kind === 'remote' && server.auth.kind === 'oauth' ? server.url : undefined

/**
 * The id of an existing server; `undefined` if a new value of its header goes to another origin. Under a new id, the value cannot be sent to the
 * address that is still recorded.
 */
function keptId(input: McpServerInput, before: readonly McpServer[]): string | undefined {
  const old = before.find(({ id }) => id === input.id)
  return valueIn(input) === undefined || !hasHeader(old) || hasSameOrigin(old, input) ? input.id : undefined
}

const hasSameOrigin = (old: McpServer | undefined, input: McpServerInput): boolean =>
  old?.kind === 'remote' &&
  input.kind === 'remote' &&
  URL.canParse(old.url) &&
  new URL(old.url).origin === new URL(input.url).origin

/** Refuses an unknown id, and a header without a value unless its stored value goes to the same origin as before. */
function refuseUnknown(input: McpServerInput, index: number, before: readonly McpServer[]): void {
  const old = before.find(({ id }) => id === input.id)
  if (input.id !== undefined && old === undefined)
    throw new Fault(
      'invalid_input',
      'There is no such server any more. Reload the page.',
      `servers.${index}.id`,
    )
  if (input.kind === 'local' || input.auth.kind !== 'header' || input.auth.value !== undefined) return
  if (!hasHeader(old) || !hasSameOrigin(old, input))
    throw new Fault('invalid_input', 'Enter the value of the header.', `servers.${index}.auth.value`)
}

/** How long to wait for the test of an MCP server. The runner may take 10 s to connect, and 10 s to get the list of tools. */
const testedWithinMs = 25_000

async function tested(
  { documents, rpc }: CommandServices,
  stream: string,
  asked: RpcRequest<'mcpTools'>,
): Promise<McpTest> {
  const document = await documents.now(mcpServersView, stream, asked.id)
  const server = document?.servers.find(({ id }) => id === asked.serverId)
  if (server === undefined) throw new Fault('not_found', 'There is no such server.')
  if (server.kind === 'local')
    return {
      kind: 'failed',
      reason: 'A local server starts in the sandbox of a task, and tells its tools there.',
    }
  const answer = await rpc.call('mcpTools', asked, testedWithinMs)
  return answer?.test ?? { kind: 'failed', reason: 'No runner answered in time. Try again.' }
}
