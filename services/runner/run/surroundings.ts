/** What surrounds what runs in a task's boxes: the project's variables and secrets, and the way out to what it allows. */
import { createHash } from 'node:crypto'
import { projectStream } from '#domain/kernel/ids.ts'
import { project as decider } from '#domain/project/project.ts'
import { noSettings } from '#domain/project/settings.ts'
import type { AgentName } from '#domain/task/events.ts'
import { ruleOf, ruleOfProject, ruleOfUrl, type Rule } from '../egress/allowList.ts'
import { openWayOut } from '../egress/wayOut.ts'
import type { PreparingParts } from '../parts.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { BoxSurroundings } from './boxSurroundings.ts'

export interface Surroundings {
  /** The project's setup command; empty when it has none. */
  readonly setupCommand: string
  /** For setup and for people's commands. */
  readonly forCommands: BoxSurroundings
  readonly forAgent: BoxSurroundings
  /** The values of all secrets, and their longer lines: what is printed must not show them. */
  readonly secrets: readonly string[]
}

/** As the project's settings are now. What surrounds a box is made when the box is, and told of by then. */
export async function surroundingsOf(
  parts: PreparingParts,
  of: {
    readonly projectId: string
    readonly agent: AgentName
    readonly workspace: Workspace
    /** Where git reaches the repository: that server may be reached. */
    readonly codeHostUrl: string
  },
): Promise<Surroundings> {
  const { state } = await parts.commands.load(decider, projectStream(of.projectId))
  const [settings, secrets] =
    state.kind === 'project' ? [state.settings, state.secrets] : [noSettings, noSecrets]
  const values = await parts.projectSecrets.valuesOf(of.projectId, [...secrets.keys()])
  const variables = settings.variables.map(({ name, value }) => [name, value] as const)
  const forAgent = [...values].filter(([name]) => secrets.get(name)?.forAgent === true)
  const { mayReachPrivate, agentHosts } = parts.egress
  const rules = [
    ruleOfUrl(of.codeHostUrl),
    ...settings.egress.map((host) => ruleOfProject(host, { mayReachPrivate })),
  ]
  const ofAgent = (agentHosts[of.agent] ?? []).map((host) => ruleOf(host, { mayBeInside: false }))
  const around = (env: readonly (readonly [string, string])[], allowed: readonly Rule[]) =>
    boxSurroundings(parts, of.workspace, Object.fromEntries(env), allowed)
  return {
    setupCommand: settings.setupCommand,
    forCommands: around([...variables, ...values], rules),
    forAgent: around([...variables, ...forAgent], [...rules, ...ofAgent]),
    secrets: [...values.values()].flatMap((value) => [value, ...longLines(value)]),
  }
}

const noSecrets: ReadonlyMap<string, { readonly forAgent: boolean }> = new Map()

function boxSurroundings(
  { sandbox, egress, scratch, logger }: PreparingParts,
  { taskId, owner }: Workspace,
  env: Readonly<Record<string, string>>,
  rules: readonly Rule[],
): BoxSurroundings {
  return {
    // A digest: secrets are among it.
    likeness: createHash('sha256')
      .update(JSON.stringify([env, rules]))
      .digest('hex'),
    async open() {
      if ('missing' in sandbox) throw new Error(sandbox.missing)
      const way = await openWayOut({
        sandbox,
        owner,
        rules,
        node: egress.node,
        scratch,
        onRefusal(refusal) {
          logger.info({ taskId, ...refusal }, 'not reached from a box')
          egress.refused(taskId, refusal)
        },
      })
      return {
        env: { ...env, ...way.env },
        readOnly: way.readOnly,
        sockets: way.sockets,
        command: way.command,
        async close() {
          const traffic = await way.close()
          if (traffic.connections > 0) logger.info({ taskId, ...traffic }, 'what a box reached')
        },
      }
    },
  }
}

/** Shorter lines, such as a bracket alone, are in everything. */
const longLine = 12

/** A key of many lines is also printed line by line. */
function longLines(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= longLine)
}
