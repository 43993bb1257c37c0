/** Records what a task changed, with a request for a pull request. */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import type { KnownSecret } from '#platform/redaction/secretForms.ts'
import { valuesOf } from '../execution/projectSecrets.ts'
import { changesEvent, redactChanges } from '../execution/recording/changesReport.ts'
import { readChanges } from '../workspace/changes/changes.ts'
import type { StagedTree } from '../workspace/changes/stage.ts'
import type { WorkspaceGit } from '../workspace/workspace.ts'
import type { Publication, PublishingDeps } from './publication.ts'

const actor = { kind: 'system', service: 'runner' } as const

export const baseGone = (branch: string): string => `The repository has no branch ${branch} any more.`

/**
 * Records the changes that are published, or because of which the request is refused, and gives the task as it is then. Throws if the task has
 * moved on.
 */
export async function recordChanges(
  deps: PublishingDeps,
  { task, requested: { requestId }, signal }: Publication,
  work: WorkspaceGit & { readonly secrets: readonly KnownSecret[] },
  from: 'tree' | StagedTree,
): Promise<LiveTask> {
  const { baseBranch } = work.workspace
  const changes = await readChanges({ ...work, baseBranch, from, signal })
  if (changes.kind === 'base_not_found') throw new Fault('code_host_refused', baseGone(baseBranch))
  if (!task.execution) throw new Fault('not_initialized')
  const of = { taskId: task.id, executionId: task.execution.id }
  const redacted = await redactChanges(changes, deps.redaction(valuesOf(work.secrets)))
  const command = {
    type: 'RecordChanges',
    requestId,
    changes: await changesEvent(deps.blobs, of, redacted),
  } as const
  const cause = { actor, commandId: randomUUID() }
  const { state } = await deps.commands.execute(decider, taskStream(task.id), command, cause)
  if (state.kind !== 'task') throw new Fault('not_found')
  return state
}
