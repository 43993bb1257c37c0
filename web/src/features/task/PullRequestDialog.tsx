/** The title and description of a pull request before it is opened or updated: proposed, and for the person to change. */
import { useId, useState } from 'react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { AreaField, Field } from '../../ui/form/Field.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { Checkbox } from '../../ui/form/Choice.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { isPullRequestOver } from '../tasks/PullRequestLink.tsx'
import { texts as taskTexts } from '../tasks/texts.ts'
import { texts as changesTexts } from './changes/texts.ts'
import { texts as pageTexts } from './texts.ts'
import { isGitDiff, type PullRequestAsked, useDiffQuery, usePullRequestQuery } from './taskApi.ts'

const texts = {
  create: { title: 'Create pull request', confirm: 'Create pull request' },
  update: { title: 'Update pull request', confirm: 'Update pull request' },
  another: { title: 'Open a new pull request', confirm: 'Open pull request' },
  over: (number: number | null, state: string) =>
    `Pull request #${number} was ${state.toLowerCase()} and can't be updated. This opens a new one.`,
  name: 'Title',
  body: 'Description',
  draft: 'Open as a draft',
  autoUpdate: 'Update after each turn',
  leave: 'Cancel',
  reading: 'Reading the changes...',
  running: 'The task is running. You can open the pull request when it finishes.',
  unrecorded:
    'The changes are not recorded yet. They are recorded first, so that you can review them before anything is published.',
  unread: (why: string) => `${why} Nothing is published that you cannot see.`,
  moved: 'The files changed since you opened this dialog. Close it, review the changes and try again.',
} as const

interface PullRequestDialogProps {
  readonly task: Task
  readonly open: boolean
  readonly onClose: () => void
  readonly onConfirm: (asked: PullRequestAsked) => void
}

/** What the person changed of the proposal; it outlives a dialog that was closed. */
type Choice = Partial<{ title: string; body: string; draft: boolean; autoUpdate: boolean }>

export function PullRequestDialog({ task, open, onClose, onConfirm }: PullRequestDialogProps) {
  const { currentData, error, isFetching } = usePullRequestQuery(task.id, { skip: !open })
  const [choice, setChoice] = useState<Choice>({})
  const seen = useSeenTree(task.id, open)
  const noteId = useId()
  const over = isPullRequestOver(task) ? (task.pullRequest?.state ?? null) : null
  const updates = task.prNumber !== null && over === null
  const create = over === null ? texts.create : texts.another
  const said = updates ? texts.update : create
  const title = choice.title ?? currentData?.proposal.title ?? (error === undefined ? '' : task.title)
  const body = choice.body ?? currentData?.proposal.body ?? ''
  const draft = choice.draft ?? false
  const autoUpdate = choice.autoUpdate ?? currentData?.autoUpdate ?? false
  const note = noteOf(task, seen)
  // While it is read again nobody waits, and the focus stays where it is.
  const isRead = !isFetching || currentData !== undefined

  const confirm = () => {
    onClose()
    // The text may have been edited at the code host: an update sends it only if it was changed here.
    const isWritten = choice.title !== undefined || choice.body !== undefined
    const words = updates && !isWritten ? {} : { title: title.trim(), body }
    onConfirm({
      ...words,
      autoUpdate,
      ...(updates ? {} : { draft }),
      ...(seen.tree !== undefined && { tree: seen.tree }),
    })
  }

  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={said.title}
      actions={
        <>
          <Button data-safe onClick={onClose}>
            {texts.leave}
          </Button>
          <Button
            kind="primary"
            busy={!isRead || seen.isAwaited}
            busyLabel={texts.reading}
            disabled={title.trim() === '' || note?.forbids === true || seen.unread !== null}
            aria-describedby={note === null ? undefined : noteId}
            onClick={confirm}
          >
            {said.confirm}
          </Button>
        </>
      }
    >
      <div className="mt-4 grid gap-4 text-text">
        {over !== null && (
          <p className="text-meta text-muted">{texts.over(task.prNumber, taskTexts.states[over])}</p>
        )}
        {error !== undefined && (
          <p role="alert" className="text-meta text-bad">
            {reasonOf(error, pageTexts.notProposed)}
          </p>
        )}
        <ProposalFields
          proposal={{ title, body, autoUpdate, draft: updates ? null : draft }}
          disabled={!isRead}
          onChange={(changed) => setChoice((before) => ({ ...before, ...changed }))}
        />
        <p id={noteId} role="status" className="text-meta text-warn empty:hidden">
          {note?.says}
        </p>
        {seen.unread !== null && (
          <Note
            kind="error"
            action={
              <Button size="small" busy={seen.isAwaited} onClick={seen.readAgain}>
                {pageTexts.tryAgain}
              </Button>
            }
          >
            {texts.unread(seen.unread)}
          </Note>
        )}
      </div>
    </Dialog>
  )
}

/** What there is to say of the changes, and whether it forbids to confirm them now. */
function noteOf(
  { status }: Task,
  { tree, isMoved }: ReturnType<typeof useSeenTree>,
): { readonly says: string; readonly forbids: boolean } | null {
  if (status === 'running' || status === 'queued') return { says: texts.running, forbids: true }
  // The server records them, and refuses what nobody has seen.
  if (tree === null) return { says: texts.unrecorded, forbids: false }
  return isMoved ? { says: texts.moved, forbids: true } : null
}

interface ProposalFieldsProps {
  readonly proposal: {
    readonly title: string
    readonly body: string
    /** `null` for a pull request that exists. */
    readonly draft: boolean | null
    readonly autoUpdate: boolean
  }
  readonly disabled: boolean
  readonly onChange: (changed: Choice) => void
}

function ProposalFields({ proposal, disabled, onChange }: ProposalFieldsProps) {
  const { title, body, draft, autoUpdate } = proposal
  return (
    <>
      <Field
        label={texts.name}
        maxLength={250}
        disabled={disabled}
        value={title}
        onChange={(event) => onChange({ title: event.target.value })}
      />
      <AreaField
        label={texts.body}
        minHeight={120}
        maxHeight={280}
        maxLength={60_000}
        disabled={disabled}
        value={body}
        onChange={(event) => onChange({ body: event.target.value })}
      />
      <div className="grid">
        {draft !== null && (
          <Checkbox checked={draft} onChange={(chosen) => onChange({ draft: chosen })}>
            {texts.draft}
          </Checkbox>
        )}
        <Checkbox checked={autoUpdate} onChange={(chosen) => onChange({ autoUpdate: chosen })}>
          {texts.autoUpdate}
        </Checkbox>
      </div>
    </>
  )
}

/**
 * The tree that the page showed when the dialog opened, or the first that came after: only what the person could see is published.
 * It is read even if the changes were never opened. `null`, as while an agent writes, is nothing that anybody has seen. While it is read again nobody waits: the server refuses what is no more.
 */
function useSeenTree(taskId: string, open: boolean) {
  const { currentData, error, isFetching, refetch } = useDiffQuery(taskId, { skip: !open })
  const newest: unknown = currentData?.data
  const shown = isGitDiff(newest) ? newest.tree : undefined
  const [seen, setSeen] = useState(shown)
  const isLater = open && seen != null
  if (!isLater && seen !== shown) setSeen(shown)
  const tree = isLater ? seen : shown
  const isRead = tree !== undefined || (error === undefined && currentData === undefined)
  return {
    tree,
    isMoved: tree !== shown,
    isAwaited: isFetching && !tree,
    /** Why the changes cannot be shown; `null` while nothing says so. */
    unread: isRead ? null : reasonOf(error, changesTexts.invalidWhy),
    readAgain: () => void refetch(),
  }
}
