/** The environments of a task's sandboxes: the project's variables and secrets, and the allowed network. */
import { createHash } from 'node:crypto'
import type { AgentName } from '#domain/agents.ts'
import type { ProjectService } from '#domain/project/settings.ts'
import type { AgentDeps } from '../deps.ts'
import { isRepository, ruleOf, ruleOfCodeHost, ruleOfProject, type Rule } from '#platform/http/egressRules.ts'
import { withNetwork, type SandboxEgress } from '../egress/sandboxEgress.ts'
import type { Bind } from '../sandbox/port.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { serversOfRun, type ServersOfRun } from '../mcp/runServers.ts'
import { settingsOf, type ProjectSecret } from './taskSecrets.ts'

/**
 * The variables, secrets and network of a sandbox. The network is opened when the sandbox starts, and closed when it ends, perhaps many turns later.
 */
export interface SandboxEnv {
  /** Equal for two environments with equal contents. An agent that was started in one of them can go on in the other. */
  readonly fingerprint: string
  /** Whether the service of an agent's model may fetch from the network on the agent's behalf. */
  readonly modelFetches: boolean
  /** The MCP servers of an agent; absent for commands. */
  readonly mcp?: ServersOfRun
  /** The services that run beside an agent; absent for commands. */
  readonly services?: readonly ProjectService[]
  /** Whether a version of the repository's hooks may run; not by default. */
  readonly hasHooks?: boolean
  /**
   * Opens the network of the sandbox. Returns what the sandbox needs to reach it, and all variables of this environment, which the agent's own
   * variables override.
   */
  open(): Promise<SandboxEgress>
}

export interface SandboxEnvs {
  /** The address at which git reaches the project's repository. */
  readonly repositoryUrl: string
  /**
   * The environment of one command, which may reach no host but the code host. At a local code host, it may read only the project's repository and
   * `repositories`, named `owner/name`.
   */
  reading(repositories: readonly string[]): SandboxEnv
  /**
   * The environment of one command, which may also read `file`, a file of this machine. It may reach no host but the code host. At a local code host,
   * it may read only the project's repository.
   */
  withFile(file: Bind): SandboxEnv
  /**
   * The repositories that the project fetches as submodules, as `owner/name` in lower case. They are fetched with the access of whoever runs the
   * task.
   */
  readonly submodules: readonly string[]
  /** The hash of the version of the repository's hooks that may run; `null`: none. */
  readonly allowedHooks: string | null
  /** The project's setup command; empty when it has none. */
  readonly setupCommand: string
  /** The project's variables, which `withSecrets`, `forCommands` and `forAgent` have. */
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  /** The environment for the setup of files that no agent has written, and for commands for which a person grants the secrets. */
  readonly withSecrets: SandboxEnv
  /** The environment without secrets, for commands of people. */
  readonly forCommands: SandboxEnv
  readonly forAgent: SandboxEnv
  /** All secrets of the project. Nothing that is recorded may contain them. */
  readonly secrets: readonly ProjectSecret[]
}

type Deps = Pick<
  AgentDeps,
  'commands' | 'projectSecrets' | 'mcpHeaders' | 'mcpSignIns' | 'sandbox' | 'egress'
>

/** Makes the environments from the current settings of the project. Opens no network yet. */
export async function sandboxEnvsOf(
  deps: Deps,
  of: {
    readonly projectId: string
    readonly agent: AgentName
    readonly workspace: Workspace
    /** The address at which git reaches the repository. Sandboxes may connect to that server. */
    readonly repositoryUrl: string
  },
): Promise<SandboxEnvs> {
  const { settings, secrets } = await settingsOf(deps, of.projectId)
  const variables = settings.variables.map(({ name, value }) => [name, value] as const)
  const asVariables = (some: readonly ProjectSecret[]) =>
    some.map(({ variable, value }) => [variable, value] as const)
  const forAgent = secrets.filter((secret) => secret.forAgent)
  const { agentHosts } = deps.egress
  const repositories = settings.egress.filter(isRepository)
  const hosts = settings.egress.filter((written) => !isRepository(written))
  const codeHost = ruleOfCodeHost(of.repositoryUrl, repositories)
  const rules = [codeHost, ...hosts.map((host) => ruleOfProject(host, deps.egress))]
  const mcp = await serversOfRun(deps, {
    projectId: of.projectId,
    secrets: new Map(asVariables(secrets)),
    codeHost,
  })
  const hostsOfAgent = (agentHosts[of.agent] ?? []).map((host) => ruleOf(host, { mayBeInside: false }))
  const envOf = (
    env: readonly (readonly [string, string])[],
    allowed: readonly Rule[],
    files: readonly Bind[] = [],
    ofAgent: Pick<SandboxEnv, 'mcp' | 'services'> = {},
  ) =>
    sandboxEnv(deps, of.workspace, {
      env: Object.fromEntries(env),
      rules: allowed,
      files,
      modelFetches: settings.modelFetches,
      hasHooks: settings.allowedHooks !== null,
      ...ofAgent,
    })
  const onlyHost = (repositories: readonly string[], files: readonly Bind[] = []) =>
    envOf([], [ruleOfCodeHost(of.repositoryUrl, repositories)], files)
  return {
    repositoryUrl: of.repositoryUrl,
    submodules: settings.submodules,
    allowedHooks: settings.allowedHooks?.hash ?? null,
    reading: (others) => onlyHost(others.map((name) => name.toLowerCase())),
    withFile: (file) => onlyHost([], [file]),
    setupCommand: settings.setupCommand,
    variables: settings.variables,
    withSecrets: envOf([...variables, ...asVariables(secrets), ...safeGitVariables], rules),
    forCommands: envOf(variables, rules),
    forAgent: envOf(
      [
        ...variables,
        ...asVariables(forAgent),
        // A local MCP server runs as the same user as the agent, so the agent can read the variables of the server.
        ...mcp.local.flatMap(({ env }) => Object.entries(env)),
      ],
      [...rules, ...hostsOfAgent],
      [],
      { mcp, services: settings.services },
    ),
    secrets,
  }
}

/**
 * These settings of git name programs, and are overridden with safe values: the agent may have set them in the tree, and such a program must not run
 * with the secrets. A setting with a custom name (an alias, a filter, a textconv) cannot be overridden here, nor can other files of the tree that a
 * command runs.
 */
const safeGitSettings = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'core.sshCommand': 'ssh',
  'core.askPass': '',
  'credential.helper': '',
  'gpg.program': 'gpg',
} as const

const safeGitVariables: readonly (readonly [string, string])[] = [
  ['GIT_CONFIG_COUNT', String(Object.keys(safeGitSettings).length)],
  ...Object.entries(safeGitSettings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ]),
]

function sandboxEnv(
  { sandbox, egress }: Pick<Deps, 'sandbox' | 'egress'>,
  { taskId, owner }: Workspace,
  given: {
    readonly env: Readonly<Record<string, string>>
    readonly rules: readonly Rule[]
    /** Files that the sandbox can read in addition to the tree. */
    readonly files: readonly Bind[]
    readonly modelFetches: boolean
    readonly hasHooks: boolean
    readonly mcp?: ServersOfRun
    readonly services?: readonly ProjectService[]
  },
): SandboxEnv {
  const { env, rules, files, modelFetches, hasHooks, mcp, services } = given
  return {
    // The fingerprint is a hash, because it covers secrets.
    fingerprint: createHash('sha256').update(JSON.stringify(given)).digest('hex'),
    modelFetches,
    hasHooks,
    ...(mcp && { mcp }),
    ...(services && { services }),
    async open() {
      if ('missing' in sandbox) throw new Error(sandbox.missing)
      const way = await egress.open({ sandbox, taskId, owner, rules })
      return { ...way, env: withNetwork(env, way.env), readOnly: [...way.readOnly, ...files] }
    },
  }
}
