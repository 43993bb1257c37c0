/** The dialog for the title and description of a pull request to open or update. It starts with a proposal that the person can edit. */
import { useEffect, useId, useState } from 'react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { AreaField, Field } from '../../ui/form/Field.tsx'
import { tooLong } from '../../ui/form/lengthLimit.ts'
import { Button } from '../../ui/form/Button.tsx'
import { Checkbox } from '../../ui/form/Choice.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Linked } from '../../ui/text/Linked.tsx'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { isPullRequestOver } from '../tasks/PullRequestLink.tsx'
import { texts as taskTexts } from '../tasks/texts.ts'
import { texts as changesTexts } from './changes/texts.ts'
import { FailureNote } from './FailureNote.tsx'
import { texts as pageTexts } from './texts.ts'
import { isGitDiff, type PullRequestInput, useDiffQuery, usePullRequestQuery } from './taskApi.ts'

const texts = {
  create: { title: 'Create pull request', confirm: 'Create pull request' },
  update: { title: 'Update pull request', confirm: 'Update pull request' },
  another: { title: 'Open a new pull request', confirm: 'Open pull request' },
  over: (number: number | null, state: string) =>
    `Pull request #${number} was ${state.toLowerCase()} and can't be updated. This opens a new one.`,
  name: 'Title',
  body: 'Description',
  draft: 'Open as a draft',
  ready: 'Mark as ready for review',
  template: 'Where the repository has a template for pull requests, it follows below this.',
  autoUpdate: 'Update after each turn',
  artifacts: (count: number) => `Add ${count} ${count === 1 ? 'artifact' : 'artifacts'}`,
  leave: 'Cancel',
  reading: 'Reading the changes...',
  running: 'The task is running. You can open the pull request when it finishes.',
  stopping: 'What you cancelled is just ending. You can open the pull request in a moment.',
  unrecorded:
    'The changes are not recorded yet. They are recorded first, so that you can review them before anything is published.',
  unread: (why: string) => `${why} Nothing is published that you cannot see.`,
  moved: 'The files changed since you opened this dialog. Close it, review the changes and try again.',
} as const

/** The maximum lengths in characters. */
const maxLengths = { title: 250, body: 60_000 }

interface PullRequestDialogProps {
  readonly task: Task
  readonly open: boolean
  readonly onClose: () => void
  readonly onConfirm: (request: PullRequestInput) => Promise<{ readonly error?: unknown }>
  /** The reason why the last request failed; `null` if it did not fail or there was none. */
  readonly refused?: string | null
}

/** The person's edits of the proposal, kept when the dialog is closed. */
type Choice = Partial<{ title: string; body: string; draft: boolean; ready: boolean; autoUpdate: boolean }>

export function PullRequestDialog({
  task,
  open,
  onClose,
  onConfirm,
  refused = null,
}: PullRequestDialogProps) {
  const { currentData, error, isFetching } = usePullRequestQuery(task.id, { skip: !open })
  const [choice, setChoice] = useState<Choice>({})
  const isRunning = task.status === 'running' || task.status === 'queued'
  const seen = useSeenTree(task.id, open, isRunning)
  const noteId = useId()
  const over = isPullRequestOver(task) ? (task.pullRequest?.state ?? null) : null
  const updates = task.prNumber !== null && over === null
  const create = over === null ? texts.create : texts.another
  const isDraft = updates && task.pullRequest?.state === 'draft'
  const words = updates ? texts.update : create
  const title = choice.title ?? currentData?.proposal.title ?? (error === undefined ? '' : task.title)
  const body = choice.body ?? currentData?.proposal.body ?? ''
  const draft = choice.draft ?? false
  // `undefined` while it is neither chosen nor read, and then not sent, because that would change the setting.
  const autoUpdate = choice.autoUpdate ?? currentData?.autoUpdate
  const isTooLong = (tooLong(title, maxLengths.title) ?? tooLong(body, maxLengths.body)) !== undefined
  const note = noteOf(task, seen)
  // Only the first read makes the button busy: a refetch must not block the person or move the focus.
  const isRead = !isFetching || currentData !== undefined

  const confirm = async () => {
    onClose()
    // The description may have been edited at the code host, so an update sends title and body only if the person changed one of them here.
    const isWritten = choice.title !== undefined || choice.body !== undefined
    const proposal = updates && !isWritten ? {} : { title: title.trim(), body }
    const { error: refusal } = await onConfirm({
      ...proposal,
      ...(autoUpdate !== undefined && { autoUpdate }),
      ...(updates ? {} : { draft }),
      ...(isDraft && choice.ready === true && { draft: false }),
      ...(seen.tree !== undefined && { tree: seen.tree }),
    })
    // What was sent would otherwise be sent again with the next update, over later edits at the code host.
    if (refusal === undefined) setChoice((now) => (now === choice ? {} : now))
  }

  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={words.title}
      actions={
        <>
          <Button data-safe onClick={onClose}>
            {texts.leave}
          </Button>
          <Button
            kind="primary"
            busy={!isRead || seen.isAwaited}
            busyLabel={texts.reading}
            disabled={title.trim() === '' || isTooLong || note?.forbids === true || seen.unread !== null}
            aria-describedby={note === null ? undefined : noteId}
            onClick={() => void confirm()}
          >
            {words.confirm}
          </Button>
        </>
      }
    >
      <div className="mt-4 grid gap-4 text-text">
        {refused !== null && (
          <Note kind="error">
            <Linked text={refused} />
          </Note>
        )}
        {over !== null && (
          <p className="text-meta text-muted">{texts.over(task.prNumber, taskTexts.states[over])}</p>
        )}
        {error !== undefined && (
          <p role="alert" className="text-meta text-bad">
            <Linked text={reasonOf(error, pageTexts.notProposed)} />
          </p>
        )}
        <ProposalFields
          proposal={{ title, body, autoUpdate: autoUpdate ?? false, draft: updates ? null : draft }}
          ready={isDraft ? choice.ready === true : null}
          artifacts={currentData?.artifacts}
          disabled={!isRead}
          onChange={(changed) => setChoice((before) => ({ ...before, ...changed }))}
        />
        <p id={noteId} role="status" className="text-meta text-warn empty:hidden">
          {note?.says}
        </p>
        {seen.unshownNote !== undefined && <p className="text-meta text-warn">{seen.unshownNote}</p>}
        {seen.unread !== null && (
          <FailureNote busy={seen.isAwaited} onRetry={seen.readAgain}>
            {texts.unread(seen.unread)}
          </FailureNote>
        )}
      </div>
    </Dialog>
  )
}

/** A note on the state of the changes; `forbids` disables the confirm button. `null` when nothing needs a note. */
function noteOf(
  { status, execution }: Task,
  { tree, isMoved }: ReturnType<typeof useSeenTree>,
): { readonly says: string; readonly forbids: boolean } | null {
  if (status === 'running' && execution?.cancelRequested) return { says: texts.stopping, forbids: true }
  if (status === 'running' || status === 'queued') return { says: texts.running, forbids: true }
  // `null` means that the person has seen no recorded changes. The server then records them and publishes nothing.
  if (tree === null) return { says: texts.unrecorded, forbids: false }
  return isMoved ? { says: texts.moved, forbids: true } : null
}

interface ProposalFieldsProps {
  readonly proposal: {
    readonly title: string
    readonly body: string
    readonly draft: boolean | null
    readonly autoUpdate: boolean
  }
  /** Whether to mark the draft as ready; `null` when the pull request is not a draft. */
  readonly ready: boolean | null
  /** How many artifacts the description can list, and the Markdown of that list. */
  readonly artifacts: { readonly count: number; readonly text: string } | undefined
  readonly disabled: boolean
  readonly onChange: (changed: Choice) => void
}

function ProposalFields({ proposal, ready, artifacts, disabled, onChange }: ProposalFieldsProps) {
  const { title, body, draft, autoUpdate } = proposal
  return (
    <>
      <Field
        label={texts.name}
        maxCharacters={maxLengths.title}
        disabled={disabled}
        value={title}
        onChange={(event) => onChange({ title: event.target.value })}
      />
      <AreaField
        mono
        label={texts.body}
        minHeight={120}
        maxHeight={280}
        maxCharacters={maxLengths.body}
        disabled={disabled}
        value={body}
        onChange={(event) => onChange({ body: event.target.value })}
      />
      {draft !== null && <p className="text-meta text-muted">{texts.template}</p>}
      <div className="grid">
        {draft !== null && (
          <Checkbox checked={draft} onChange={(chosen) => onChange({ draft: chosen })}>
            {texts.draft}
          </Checkbox>
        )}
        {ready !== null && (
          <Checkbox checked={ready} onChange={(chosen) => onChange({ ready: chosen })}>
            {texts.ready}
          </Checkbox>
        )}
        {artifacts !== undefined && (
          <Checkbox
            checked={body.includes(artifacts.text)}
            onChange={(chosen) => onChange({ body: withArtifacts(body, artifacts.text, chosen) })}
          >
            {texts.artifacts(artifacts.count)}
          </Checkbox>
        )}
        <Checkbox checked={autoUpdate} onChange={(chosen) => onChange({ autoUpdate: chosen })}>
          {texts.autoUpdate}
        </Checkbox>
      </div>
    </>
  )
}

/** The description without its list of artifacts; with `isIn`, the list `text` is then added at the end. */
function withArtifacts(body: string, text: string, isIn: boolean): string {
  const others = body.replace(/^## Artifacts\n\n(?:- .*(?:\n|$))*/m, '').trim()
  return isIn ? `${others}\n\n${text}`.trim() : others
}

/**
 * The git tree of the changes that the person has seen; `undefined` until it is read, and `null` if no changes are recorded. It is read when the
 * dialog opens and when an execution ends, because the page may lag behind the end of a command. Once there is a tree, a refetch blocks nobody, since
 * the server refuses an outdated tree.
 */
function useSeenTree(taskId: string, open: boolean, isRunning: boolean) {
  const { currentData, error, isFetching, refetch } = useDiffQuery(taskId, { skip: !open })
  const [isNew, setNew] = useState(false)
  useEffect(() => {
    if (!open || isRunning) return undefined
    let isOpen = true
    void refetch().then(() => isOpen && setNew(true))
    return () => {
      isOpen = false
      setNew(false)
    }
  }, [open, isRunning, refetch])
  const read = isNew ? currentData : undefined
  const newest: unknown = read?.data
  const newestTree = isGitDiff(newest) ? newest.tree : undefined
  const [seen, setSeen] = useState(newestTree)
  const isLater = open && seen != null
  if (!isLater && seen !== newestTree) setSeen(newestTree)
  const tree = isLater ? seen : newestTree
  const isUnread = tree === undefined && (error !== undefined || read !== undefined)
  return {
    tree,
    /** The server's note about changes that the page does not show, or that the pull request leaves out. */
    unshownNote: isGitDiff(newest) && newest.status === 'ready' ? newest.message : undefined,
    isMoved: newestTree !== undefined && tree !== newestTree,
    isAwaited: !isRunning && !tree && (isFetching || (tree === undefined && !isUnread)),
    /** The reason why the changes cannot be shown; `null` when there is none. */
    unread: isUnread ? reasonOf(error, changesTexts.invalidWhy) : null,
    readAgain: () => void refetch(),
  }
}
