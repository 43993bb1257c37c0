/** What other services may ask a runner about its workspaces and mirrors. */
import type { Asked, Rpc } from '#platform/ports/rpc.ts'
import { hasWorkspace } from '../workspace/workspace.ts'
import { changesAgainst, type ChangesDeps } from './changesAgainstBase.ts'
import { lineOrigins } from './lineOrigins.ts'
import { linesOf, type LinesDeps } from './fileLines.ts'
import { suggestedHosts, type HostsDeps } from './suggestedHosts.ts'
import { undoPreview, type UndoPreviewDeps } from './undoPreview.ts'

/** Questions of one kind that are answered at once. More are left unanswered: the caller falls back on what was recorded, or asks again. */
const mostAtOnce = 4

/** Answers until the returned function is called. The caller has checked whose task or project it is. `home`: that of the runner's user. */
export function answerQuestions(
  deps: ChangesDeps & LinesDeps & HostsDeps & UndoPreviewDeps,
  { rpc, home }: { readonly rpc: Rpc; readonly home: string | undefined },
): () => void {
  const stops = [
    rpc.answer(
      'changes',
      ofOwnWorkspace(deps, (asked: Asked<'changes'>) => changesAgainst(deps, asked)),
    ),
    rpc.answer(
      'lines',
      ofOwnWorkspace(deps, (asked: Asked<'lines'>) => linesOf(deps, asked)),
    ),
    rpc.answer(
      'undoPreview',
      ofOwnWorkspace(deps, (asked: Asked<'undoPreview'>) => undoPreview(deps, asked)),
    ),
    rpc.answer(
      'origins',
      ofOwnWorkspace(deps, (asked: Asked<'origins'>) => lineOrigins(deps, asked)),
    ),
    rpc.answer('hosts', (asked) => suggestedHosts(deps, asked, home)),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Leaves a question to other runners where this one does not have the task's workspace. */
function ofOwnWorkspace<Asked extends { readonly taskId: string }, Answered>(
  { root }: { readonly root: string },
  answer: (asked: Asked) => Promise<Answered | undefined>,
): (asked: Asked) => Promise<Answered | undefined> {
  let atOnce = 0
  return async (asked) => {
    if (atOnce >= mostAtOnce || !(await hasWorkspace(root, asked.taskId))) return undefined
    atOnce += 1
    try {
      return await answer(asked)
    } finally {
      atOnce -= 1
    }
  }
}
