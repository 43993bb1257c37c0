/** The secrets of a task's project, of its person and of this server. Nothing that is recorded or pushed for the task may contain them. */
import { setImmediate } from 'node:timers/promises'
import { projectStream } from '#domain/kernel/streams.ts'
import { projectDecider as decider } from '#domain/project/project.ts'
import { noSettings, type ProjectSettings } from '#domain/project/settings.ts'
import type { Paying } from '#platform/credentials/modelKeys.ts'
import type { Redaction } from '../redaction/redaction.ts'
import type { KnownSecret } from '#platform/redaction/secretForms.ts'
import type { AgentDeps } from '../deps.ts'
import type { ChangedFile } from '../workspace/changes/treeDiff.ts'

export interface ProjectSecret extends KnownSecret {
  readonly variable: string
  readonly forAgent: boolean
}

/** A project's settings, with the values of its secrets. */
export async function settingsOf(
  { commands, projectSecrets }: Pick<AgentDeps, 'commands' | 'projectSecrets'>,
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

/** The secrets with which git and the agents authenticate: the server's own, and the keys of the person and the project. */
export async function ownSecrets(
  { installed, modelKeys }: Pick<AgentDeps, 'installed' | 'modelKeys'>,
  {
    accessToken,
    gitToken,
    authorization,
  }: { readonly accessToken: string; readonly gitToken: string; readonly authorization: string },
  by: Paying,
): Promise<readonly KnownSecret[]> {
  const keys = await modelKeys.valuesOf(by)
  return [
    { name: 'your access token of the code host', value: accessToken },
    { name: 'the access token of git', value: gitToken },
    { name: 'what git proves itself with at the code host', value: authorization },
    // The keys of all agents: an agent that ran earlier may have stored its key in the home of the sandbox, and a later command could print it.
    ...installed.secrets,
    // A gateway in front of a model may repeat the key of a request in its answer.
    ...keys.map((value) => ({ name: 'a key for models', value })),
  ]
}

export const valuesOf = (secrets: readonly KnownSecret[]): readonly string[] =>
  secrets.map(({ value }) => value)

/** The files with secrets removed from their names and diffs. */
export async function withoutSecrets(
  files: readonly ChangedFile[],
  redaction: Redaction,
): Promise<readonly ChangedFile[]> {
  const redacted: ChangedFile[] = []
  // A text that ends like the beginning of a secret counts as a part of it, but no name is cut off.
  const wholeName = async (name: string) => (await redaction.text(`${name}\0`)).slice(0, -1)
  for (const file of files) {
    // Yields between diffs, so that many short ones do not block the thread.
    await setImmediate()
    redacted.push({
      ...file,
      fileName: await wholeName(file.fileName),
      ...(file.previousName !== undefined && { previousName: await wholeName(file.previousName) }),
      diff: await redaction.diff(file.diff),
    })
  }
  return redacted
}
