/** The MCP servers of a run: those of its project, then those of its person. */
import type { McpServerReport } from '#domain/mcp/mcpReport.ts'
import type { McpServer } from '#domain/mcp/mcpServers.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { RpcRequest } from '#platform/ports/rpc.ts'
import type { Rule } from '#platform/http/egressRules.ts'
import type { AgentDeps } from '../deps.ts'
import { chosenServers } from '#platform/mcp/chosenServers.ts'
import type { RemoteServer } from '#platform/mcp/remoteRequest.ts'
import { signInAgain } from '#platform/mcp/signIns.ts'

export interface LocalServer {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly toolsOff: readonly string[]
}

export interface ServersOfRun {
  readonly local: readonly LocalServer[]
  readonly remote: readonly RemoteServer[]
  /** The servers that cannot be used in this run, with the reasons. */
  readonly leftOut: readonly McpServerReport[]
}

type Deps = Pick<AgentDeps, 'commands' | 'mcpHeaders' | 'mcpSignIns' | 'egress'>

interface OfRun {
  readonly projectId: string
  /** The project's secrets, by the names of their variables. */
  readonly secrets: ReadonlyMap<string, string>
  readonly codeHost: Rule
}

export async function serversOfRun(deps: Deps, of: OfRun): Promise<ServersOfRun> {
  const { state } = await deps.commands.load(projectDecider, projectStream(of.projectId))
  if (state.kind !== 'project') return { local: [], remote: [], leftOut: [] }
  const own = await chosenServers(deps.commands, { of: 'person', id: state.ownerId })
  const enabled = [
    ...state.mcpServers.map((server) => ({ server, owner: of.projectId })),
    ...own.map((server) => ({ server, owner: state.ownerId })),
  ].filter(({ server }) => server.enabled)
  const taken = new Set<string>()
  const local: LocalServer[] = []
  const remote: RemoteServer[] = []
  const leftOut: McpServerReport[] = []
  for (const { server, owner } of enabled) {
    const { name } = server
    const leaveOut = (error: string) => leftOut.push({ name, status: 'left_out', error, tools: [] })
    if (taken.has(name.toLowerCase())) {
      leaveOut('The project has a server of this name.')
      continue
    }
    taken.add(name.toLowerCase())
    if (server.kind === 'local') {
      const missing = server.secrets.find((secret) => !of.secrets.has(secret))
      if (missing === undefined) local.push(localServer(server, of.secrets))
      else leaveOut(`The project has no secret ${missing}.`)
      continue
    }
    const reached = await remoteServer(deps, owner, server, of.codeHost)
    if (typeof reached === 'string') leaveOut(reached)
    else remote.push(reached)
  }
  return { local, remote, leftOut }
}

function localServer(
  { name, command, args, secrets, toolsOff }: Extract<McpServer, { kind: 'local' }>,
  values: ReadonlyMap<string, string>,
): LocalServer {
  const env = Object.fromEntries(secrets.map((secret) => [secret, values.get(secret) ?? '']))
  return { name, command, args, env, toolsOff }
}

/** The server with its address and credential, or a sentence that says why it cannot be used. */
async function remoteServer(
  { mcpHeaders, mcpSignIns, egress }: Pick<Deps, 'mcpHeaders' | 'mcpSignIns' | 'egress'>,
  owner: string,
  server: Extract<McpServer, { kind: 'remote' }>,
  codeHost: Rule,
): Promise<RemoteServer | string> {
  const { id, name, url, auth, toolsOff } = server
  if (!URL.canParse(url)) return 'Its address is not valid. Correct it in the settings.'
  const network = { mayReachPrivate: egress.mayReachPrivate, codeHost }
  const known = { id, name, url, toolsOff, network, header: null }
  switch (auth.kind) {
    case 'none':
      return known
    case 'header': {
      const value = (await mcpHeaders.valuesOf(owner, [id])).get(id)
      if (value === undefined) return 'The value of its header is missing. Enter it in the settings.'
      return { ...known, header: { name: auth.name, value } }
    }
    case 'oauth': {
      const [signIn] = await mcpSignIns.shown(owner, [server])
      if (signIn === undefined || signIn.isEnded)
        return signIn ? signInAgain(name) : `Sign in to ${name} in the settings.`
      const place = { id: owner, serverId: id, name, url }
      return { ...known, token: (refused) => mcpSignIns.token(place, refused) }
    }
  }
}

/** The remote server of a project or a person, or a sentence that says why it cannot be used. */
export async function remoteServerOf(
  deps: Deps,
  { serverId, ...owner }: Omit<RpcRequest<'mcpTools'>, 'ownerId'>,
  codeHost: Rule,
): Promise<RemoteServer | string> {
  const server = (await chosenServers(deps.commands, owner)).find(({ id }) => id === serverId)
  if (server?.kind !== 'remote') return 'There is no such remote server.'
  return remoteServer(deps, owner.id, server, codeHost)
}
