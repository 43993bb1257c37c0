/** What is said of a clean-up in the timeline. */
import { isBranchGone, isWorkspaceGone } from '../api/cleanUp.ts'
import type { TaskEventMessage } from '../api/socket.schema.ts'

/** `null` for events that are of no clean-up. */
export function ofCleanUp(event: TaskEventMessage) {
  const kind = 'pull_request' as const
  if (event.type === 'TaskCleanUpRequested')
    return { kind, sentence: 'Asked to clean up after the pull request', who: 'person' as const }
  if (event.type !== 'TaskCleanedUp') return null
  const left = [
    ...(isBranchGone(event.data.branch) ? [] : ['the branch']),
    ...(isWorkspaceGone(event.data.workspace) ? [] : ['the workspace']),
  ]
  const who = 'runner' as const
  return left.length === 0
    ? { kind, sentence: 'Removed the branch and the workspace', outcome: 'completed' as const, who }
    : { kind, sentence: `Clean-up left ${left.join(' and ')} in place`, outcome: 'failed' as const, who }
}
