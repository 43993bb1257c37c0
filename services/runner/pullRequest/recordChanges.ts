/** Records the changes of a task for a request to publish them. */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import type { KnownSecret } from '#platform/redaction/secretForms.ts'
import { valuesOf } from '../execution/taskSecrets.ts'
import { changesNow } from '../execution/recording/changesReport.ts'
import type { StagedTree } from '../workspace/changes/stagedTree.ts'
import type { WorkspaceGit } from '../workspace/workspace.ts'
import type { Publication, PublishingDeps } from './publication.ts'

const actor = { kind: 'system', service: 'runner' } as const

export const baseGone = (branch: string): string => `The repository has no branch ${branch} any more.`

/**
 * Records the changes of the task's tree, or of a tree that was staged before. Returns the state of the task after that. Throws a `Fault` if the base
 * branch is gone, or if the task was continued.
 */
export async function recordChanges(
  deps: PublishingDeps,
  { task, requested: { requestId }, signal }: Publication,
  work: WorkspaceGit & { readonly secrets: readonly KnownSecret[] },
  from: 'tree' | StagedTree,
): Promise<LiveTask> {
  if (!task.execution) throw new Fault('not_initialized')
  const executionId = task.execution.id
  const secrets = valuesOf(work.secrets)
  const changes = await changesNow(deps, { ...work, executionId, secrets }, { from, signal })
  if (changes === null) throw new Fault('code_host_refused', baseGone(work.workspace.baseBranch))
  const command = { type: 'RecordChanges', requestId, changes } as const
  const cause = { actor, commandId: randomUUID() }
  const { state } = await deps.commands.execute(decider, taskStream(task.id), command, cause)
  if (state.kind !== 'task') throw new Fault('not_found')
  return state
}
