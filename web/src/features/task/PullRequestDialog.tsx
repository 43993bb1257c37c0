/** What a pull request is called and says, before it is made or updated: proposed, and for the person to change. */
import { useId, useState } from 'react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { AreaField, Field } from '../../ui/form/Field.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { Checkbox } from '../../ui/form/Choice.tsx'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { type PullRequestAsked, useDiffQuery, usePullRequestQuery } from './taskApi.ts'
import { texts } from './texts.ts'

interface PullRequestDialogProps {
  readonly task: Task
  readonly open: boolean
  readonly onClose: () => void
  readonly onConfirm: (asked: PullRequestAsked) => void
}

/** What the person chose other than proposed; it outlives a dialog that was closed. */
type Choice = Partial<{ title: string; body: string; draft: boolean; autoUpdate: boolean }>

export function PullRequestDialog({ task, open, onClose, onConfirm }: PullRequestDialogProps) {
  const { currentData, error, isFetching } = usePullRequestQuery(task.id, { skip: !open })
  const [choice, setChoice] = useState<Choice>({})
  // Also where the changes were never opened: what is published is what could be seen when this was asked.
  const changes = useDiffQuery(task.id, { skip: !open })
  const shownTree = changes.currentData?.data.tree
  const seenTree = useSeen(shownTree, open)
  const noteId = useId()
  const updates = task.prNumber !== null
  const said = updates ? texts.pullRequest.update : texts.pullRequest.create
  const choose = (changed: Choice) => setChoice((before) => ({ ...before, ...changed }))

  const title = choice.title ?? currentData?.proposal.title ?? (error === undefined ? '' : task.title)
  const body = choice.body ?? currentData?.proposal.body ?? ''
  const draft = choice.draft ?? false
  const autoUpdate = choice.autoUpdate ?? currentData?.autoUpdate ?? false
  const isWritten = choice.title !== undefined || choice.body !== undefined

  const isRunning = task.status === 'running' || task.status === 'queued'
  const isMoved = seenTree !== shownTree
  const note = isRunning ? texts.pullRequest.running : isMoved ? texts.pullRequest.moved : null

  const confirm = () => {
    onClose()
    // Words that nobody touched may have been changed at the code host: an update leaves them alone.
    const words = updates && !isWritten ? {} : { title: title.trim(), body }
    const tree = seenTree ?? undefined
    onConfirm({ ...words, autoUpdate, ...(updates ? {} : { draft }), ...(tree !== undefined && { tree }) })
  }

  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={said.title}
      actions={
        <>
          <Button data-safe onClick={onClose}>
            {texts.pullRequest.leave}
          </Button>
          <Button
            kind="primary"
            disabled={isFetching || changes.isFetching || title.trim() === '' || note !== null}
            aria-describedby={note === null ? undefined : noteId}
            onClick={confirm}
          >
            {said.confirm}
          </Button>
        </>
      }
    >
      <div className="mt-4 grid gap-4 text-text">
        {error !== undefined && (
          <p role="alert" className="text-meta text-bad">
            {reasonOf(error, texts.pullRequest.notProposed)}
          </p>
        )}
        <Field
          label={texts.pullRequest.name}
          maxLength={250}
          disabled={isFetching}
          value={title}
          onChange={(event) => choose({ title: event.target.value })}
        />
        <AreaField
          label={texts.pullRequest.body}
          minHeight={120}
          maxHeight={280}
          maxLength={60_000}
          disabled={isFetching}
          value={body}
          onChange={(event) => choose({ body: event.target.value })}
        />
        <div className="grid">
          {!updates && (
            <Checkbox checked={draft} onChange={(chosen) => choose({ draft: chosen })}>
              {texts.pullRequest.draft}
            </Checkbox>
          )}
          <Checkbox checked={autoUpdate} onChange={(chosen) => choose({ autoUpdate: chosen })}>
            {texts.pullRequest.autoUpdate}
          </Checkbox>
        </div>
        <p id={noteId} role="status" className="text-meta text-warn empty:hidden">
          {note}
        </p>
      </div>
    </Dialog>
  )
}

/** The tree that was on the page when the dialog was opened, or the first that came after: what is published is what was seen before. */
function useSeen(shown: string | null | undefined, open: boolean): string | null | undefined {
  const [seen, setSeen] = useState(shown)
  const isLater = open && seen !== undefined
  if (!isLater && seen !== shown) setSeen(shown)
  return isLater ? seen : shown
}
