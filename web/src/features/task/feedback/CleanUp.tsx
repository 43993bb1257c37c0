/** Offers to remove the branch and the workspace once the pull request is merged or closed, and shows the outcome. */
import { useState } from 'react'
import { useDispatch } from 'react-redux'
import { isBranchGone, isWorkspaceGone } from '#domain/api/cleanUp.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { ConfirmDialog } from '../../../ui/overlay/ConfirmDialog.tsx'
import { notifiedFailure } from '../../notifications/notifications.ts'
import { taskLoaded } from '../taskSlice.ts'
import { useCleanUpTaskMutation } from './feedbackApi.ts'
import { texts } from './texts.ts'

const words = texts.cleanUp

export function CleanUp({ task }: { readonly task: Task }) {
  const dispatch = useDispatch()
  const [cleanUp, { isLoading }] = useCleanUpTaskMutation()
  const [isConfirming, setConfirming] = useState(false)
  const ended = endOf(task)
  const { cleanUp: outcome } = task
  const isDone = outcome !== undefined && isBranchGone(outcome.branch) && isWorkspaceGone(outcome.workspace)
  const isBusy = task.status === 'running' || task.status === 'queued'
  const onConfirm = async () => {
    setConfirming(false)
    const answer = await cleanUp(task.id)
    if (answer.error === undefined) dispatch(taskLoaded(answer.data.task))
    else dispatch(notifiedFailure(words.failed, answer.error))
  }
  return (
    <section
      aria-label={words.label}
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-control border border-line px-3 py-2.5 text-ui"
    >
      <p role="status" className="min-w-0 flex-1 basis-50 wrap-anywhere text-muted">
        {outcome === undefined && words.offers[ended]}
        {isDone && (ended === 'merged' ? words.done : words.doneAndSaved)}
        {outcome !== undefined && !isDone && (
          <>
            <span className="block">{words.branchOutcomes[outcome.branch]}</span>
            <span className="mt-1 block">{words.workspaceOutcomes[outcome.workspace]}</span>
          </>
        )}
      </p>
      {!isDone && (
        <Button
          size="touch"
          busy={isLoading}
          busyLabel={words.busy}
          disabled={isBusy}
          onClick={() => setConfirming(true)}
          className="ml-auto"
        >
          {outcome === undefined ? words.action : words.again}
        </Button>
      )}
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={words.title}
        leave={words.keep}
        confirm={words.action}
        isDangerous
        onConfirm={() => void onConfirm()}
      >
        <p>{words.goes}</p>
        <ul className="mt-2 list-disc pl-5 wrap-anywhere">
          <li>
            {words.branch} {task.workingBranch !== null && <b className="mono">{task.workingBranch}</b>},{' '}
            {words.branchWhen}
          </li>
          <li>
            {words.workspace}, {ended === 'merged' ? words.workspaceWhen : words.workspaceUnlessUnsaved}
          </li>
        </ul>
        <p className="mt-2">{words.stays[ended]}</p>
      </ConfirmDialog>
    </section>
  )
}

/** How the pull request ended. `laterWork` says that the task has work that was not merged. */
function endOf({ pullRequest, laterWork }: Task): keyof typeof words.offers {
  if (pullRequest?.state === 'closed') return 'closed'
  return laterWork ? 'mergedAndWorkedOn' : 'merged'
}
