/** What a task changed against another branch than the recorded one. */
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Answered, Asked } from '#platform/ports/rpc.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { ownSecrets, settingsOf, valuesOf, withoutSecrets } from '../execution/projectSecrets.ts'
import { refreshMirror } from '../execution/repositoryAccess.ts'
import { readChanges } from '../workspace/changes/changes.ts'
import { readWorkspace } from '../workspace/workspace.ts'

export type ChangesDeps = WorkspaceDeps &
  Pick<RecordingDeps, 'blobs' | 'redaction'> &
  Pick<AgentDeps, 'commands' | 'projectSecrets' | 'installed'>

const withinMs = 9_000

export async function changesAgainst(
  deps: ChangesDeps,
  { taskId, baseBranch }: Asked<'changes'>,
): Promise<Answered<'changes'> | undefined> {
  const task = await deps.documents.get(tasksView, taskId)
  if (!task) return undefined
  const signal = AbortSignal.timeout(withinMs)
  const refreshed = await refreshMirror(deps, task, { signal })
  if (refreshed.kind !== 'ready') return undefined
  const workspace = await readWorkspace({ root: deps.root, taskId, mirror: refreshed.mirror })
  if (!workspace) return undefined
  const { git, sandbox } = deps
  const treeGit = 'missing' in sandbox ? git : sandbox.gitFor(workspace)
  const changes = await readChanges({ git, treeGit, workspace, baseBranch, signal })
  if (changes.kind === 'base_not_found') return { kind: 'base_not_found' }
  const { ahead, behind, truncated } = changes
  const { secrets } = await settingsOf(deps, task.projectId)
  const redaction = deps.redaction(valuesOf([...secrets, ...ownSecrets(deps, refreshed.access)]))
  const files = await withoutSecrets(changes.files, redaction)
  const currentBranch = await redaction.text(changes.currentBranch)
  const scope = scopeOfStream(taskStream(taskId))
  const blob = files.length === 0 ? null : await deps.blobs.put(scope, Buffer.from(JSON.stringify(files)))
  return { kind: 'changes', currentBranch, ahead, behind, truncated, files: files.length, blob }
}
