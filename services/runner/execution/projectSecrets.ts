/** What a task's box may have seen and nobody is to read: not in what is recorded of the task, nor in what is pushed of it. */
import { setImmediate } from 'node:timers/promises'
import { projectStream } from '#domain/kernel/ids.ts'
import { project as decider } from '#domain/project/project.ts'
import { noSettings, type ProjectSettings } from '#domain/project/settings.ts'
import type { Redaction } from '../output/redaction.ts'
import type { KnownSecret } from '../output/secretForms.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { ChangedFile } from '../workspace/changes/changes.ts'

export interface ProjectSecret extends KnownSecret {
  /** The variable that has it in the box. */
  readonly variable: string
  readonly forAgent: boolean
}

/** A project as its people set it, with the values of its secrets. */
export async function settingsOf(
  { commands, projectSecrets }: Pick<WorkspaceDeps, 'commands' | 'projectSecrets'>,
  projectId: string,
): Promise<{ readonly settings: ProjectSettings; readonly secrets: readonly ProjectSecret[] }> {
  const { state } = await commands.load(decider, projectStream(projectId))
  if (state.kind !== 'project') return { settings: noSettings, secrets: [] }
  const values = await projectSecrets.valuesOf(projectId, [...state.secrets.keys()])
  const secrets = [...values].map(([variable, value]) => {
    const forAgent = state.secrets.get(variable)?.forAgent === true
    return { name: `the project's secret ${variable}`, variable, value, forAgent }
  })
  return { settings: state.settings, secrets }
}

/** Those that are there whatever the project: what git and the agents prove themselves with. */
export function ownSecrets(
  { model, agentKeys }: Pick<WorkspaceDeps, 'model' | 'agentKeys'>,
  { accessToken, authorization }: { readonly accessToken: string; readonly authorization: string },
): readonly KnownSecret[] {
  return [
    { name: 'your access token of the code host', value: accessToken },
    { name: 'what git proves itself with at the code host', value: authorization },
    ...(model.kind === 'anthropic' ? [{ name: "the model's key", value: model.apiKey }] : []),
    // A box that had one of these may keep it in its home, for any later command to print.
    ...Object.entries(agentKeys).map(([agent, value]) => ({ name: `the key of ${agent}`, value })),
  ]
}

export const valuesOf = (secrets: readonly KnownSecret[]): readonly string[] =>
  secrets.map(({ value }) => value)

/** The same files, with diffs that show nothing of what is hidden. */
export async function withoutSecrets(
  files: readonly ChangedFile[],
  redaction: Redaction,
): Promise<readonly ChangedFile[]> {
  const shown: ChangedFile[] = []
  for (const file of files) {
    // Of many short diffs each takes a moment of this thread: others have their turn between two.
    await setImmediate()
    shown.push({ ...file, diff: await redaction.diff(file.diff) })
  }
  return shown
}
