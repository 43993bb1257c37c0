/** Answers what a task changed against another branch than the recorded one, where this runner has its workspace. */
import { scopeOfStream, taskStream } from '#domain/kernel/ids.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Answered, Asked, Rpc } from '#platform/ports/rpc.ts'
import type { RunnerDeps } from '../deps.ts'
import { readChanges } from '../workspace/changes/changes.ts'
import { hasWorkspace, readWorkspace } from '../workspace/workspace.ts'
import { refreshMirror } from '../execution/prepareWorkspace.ts'
import { ownSecrets, settingsOf, valuesOf, withoutSecrets } from '../execution/projectSecrets.ts'

/** More at once are left to the one who asks, who then shows what was recorded. */
const mostAtOnce = 4
const withinMs = 9_000

/** Until the returned function is called. The one who asks has checked whose task it is. */
export function answerChanges(deps: RunnerDeps, rpc: Rpc): () => void {
  let underWay = 0
  return rpc.answer('changes', async (asked) => {
    if (underWay >= mostAtOnce || !(await hasWorkspace(deps.root, asked.taskId))) return undefined
    underWay += 1
    try {
      return await changesAgainst(deps, asked)
    } finally {
      underWay -= 1
    }
  })
}

async function changesAgainst(
  deps: RunnerDeps,
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
  const hidden = valuesOf([...secrets, ...ownSecrets(deps, refreshed.access)])
  const redaction = deps.redaction(hidden)
  const files = await withoutSecrets(changes.files, redaction)
  const currentBranch = await redaction.text(changes.currentBranch)
  const scope = scopeOfStream(taskStream(taskId))
  const blob = files.length === 0 ? null : await deps.blobs.put(scope, Buffer.from(JSON.stringify(files)))
  return { kind: 'changes', currentBranch, ahead, behind, truncated, files: files.length, blob }
}
