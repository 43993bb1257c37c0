/** What surrounds what runs in a task's boxes: the project's variables and secrets, and the way out to what it allows. */
import { createHash } from 'node:crypto'
import type { AgentName } from '#domain/agents.ts'
import { isRepository, ruleOf, ruleOfCodeHost, ruleOfProject, type Rule } from '../egress/allowList.ts'
import { openEgressProxy } from '../egress/egressProxy.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { SandboxEnv } from './sandboxEnv.ts'
import { settingsOf, type ProjectSecret } from './projectSecrets.ts'

export interface SandboxEnvs {
  /** The project's setup command; empty when it has none. */
  readonly setupCommand: string
  /** For the setup, and for commands of people who said that these get the secrets. */
  readonly withSecrets: SandboxEnv
  /** For people's other commands. */
  readonly forCommands: SandboxEnv
  readonly forAgent: SandboxEnv
  /** All of the project's: nothing that is recorded may show them. */
  readonly secrets: readonly ProjectSecret[]
}

/** As the project's settings are now. What surrounds a box is made when the box is, and told of by then. */
export async function sandboxEnvsOf(
  deps: WorkspaceDeps,
  of: {
    readonly projectId: string
    readonly agent: AgentName
    readonly workspace: Workspace
    /** Where git reaches the repository: that server may be reached. */
    readonly repositoryUrl: string
  },
): Promise<SandboxEnvs> {
  const { settings, secrets } = await settingsOf(deps, of.projectId)
  const variables = settings.variables.map(({ name, value }) => [name, value] as const)
  const asVariables = (some: readonly ProjectSecret[]) =>
    some.map(({ variable, value }) => [variable, value] as const)
  const forAgent = secrets.filter((secret) => secret.forAgent)
  const { mayReachPrivate, agentHosts } = deps.egress
  const hosts = settings.egress.filter((written) => !isRepository(written))
  const rules = [
    ruleOfCodeHost(of.repositoryUrl, settings.egress.filter(isRepository)),
    ...hosts.map((host) => ruleOfProject(host, { mayReachPrivate })),
  ]
  const ofAgent = (agentHosts[of.agent] ?? []).map((host) => ruleOf(host, { mayBeInside: false }))
  const around = (env: readonly (readonly [string, string])[], allowed: readonly Rule[]) =>
    sandboxEnv(deps, of.workspace, {
      env: Object.fromEntries(env),
      rules: allowed,
      modelFetches: settings.modelFetches,
    })
  return {
    setupCommand: settings.setupCommand,
    withSecrets: around([...variables, ...asVariables(secrets), ...ownGit], rules),
    forCommands: around(variables, rules),
    forAgent: around([...variables, ...asVariables(forAgent)], [...rules, ...ofAgent]),
    secrets,
  }
}

/**
 * What of git's settings names a program, and the agent may have set in the tree: it is not to run beside secrets. Where such a program has
 * a name of its own (an alias, a filter, a textconv) it is not known; nor are the other files of the tree that a command runs.
 */
const overruled = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'core.sshCommand': 'ssh',
  'core.askPass': '',
  'credential.helper': '',
  'gpg.program': 'gpg',
} as const

const ownGit: readonly (readonly [string, string])[] = [
  ['GIT_CONFIG_COUNT', String(Object.keys(overruled).length)],
  ...Object.entries(overruled).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ]),
]

function sandboxEnv(
  { sandbox, egress, scratch, logger }: WorkspaceDeps,
  { taskId, owner }: Workspace,
  given: {
    readonly env: Readonly<Record<string, string>>
    readonly rules: readonly Rule[]
    readonly modelFetches: boolean
  },
): SandboxEnv {
  const { env, rules, modelFetches } = given
  return {
    // A digest: secrets are among it.
    fingerprint: createHash('sha256').update(JSON.stringify(given)).digest('hex'),
    modelFetches,
    async open() {
      if ('missing' in sandbox) throw new Error(sandbox.missing)
      const way = await openEgressProxy({
        sandbox,
        owner,
        rules,
        node: egress.node,
        scratch,
        onRefusal(refusal) {
          logger.info({ taskId, ...refusal }, 'connection from a box refused')
          egress.refused(taskId, refusal)
        },
      })
      return {
        env: { ...env, ...way.env },
        readOnly: way.readOnly,
        sockets: way.sockets,
        command: way.command,
        beside: way.beside,
        async close() {
          const traffic = await way.close()
          if (traffic.connections > 0) logger.info({ taskId, ...traffic }, 'connections from a box')
        },
      }
    },
  }
}
