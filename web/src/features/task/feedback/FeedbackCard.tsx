/** A review, a comment or a failed check: its author and the author's permission, its place and text, and the possible actions. */
import { CircleX, MessageSquare } from 'lucide-react'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useDispatch } from 'react-redux'
import type { ShownFeedback } from '#domain/api/feedback.schema.ts'
import { isInFull } from '#domain/task/codeHost/feedbackRule.ts'
import { classes } from '../../../ui/classes.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { TextArea } from '../../../ui/form/TextArea.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { feedbackDrafts } from '../../../state/persisted.ts'
import { useDraft } from '../../../state/useDraft.ts'
import { safeLink } from '../../../ui/text/safeLink.ts'
import { notifiedFailure } from '../../notifications/notifications.ts'
import { heldWithdrawals } from '../chat/queue/heldWithdrawals.ts'
import {
  useAnswerFeedbackMutation,
  useDismissFeedbackMutation,
  useLazyFeedbackMessageQuery,
  useResolveFeedbackMutation,
  useRestoreFeedbackMutation,
  useSendFeedbackMutation,
} from './feedbackApi.ts'
import { texts } from './texts.ts'

interface CardProps {
  readonly taskId: string
  readonly feedback: ShownFeedback
}

export function FeedbackCard({ taskId, feedback }: CardProps) {
  const { id, status, isStale, body, comments, check } = feedback
  const draft = useEdited(`${taskId} ${id}`)
  const [send, { isLoading: isSending }] = useSendFeedbackMutation()
  const quoted = comments.filter(isInFull)
  const card = useRef<HTMLElement>(null)
  const onDiscard = () => {
    draft.edit(null)
    // The focused button disappears with the text, so the card gets the focus.
    card.current?.focus()
  }
  // An outdated card stays while somebody is writing a message about it.
  if (isStale && status !== 'sent' && draft.edited === null) return null
  if (status === 'dismissed') return <Dismissed taskId={taskId} feedback={feedback} />
  return (
    <article
      ref={card}
      tabIndex={-1}
      aria-label={titleOf(feedback)}
      className="grid grid-cols-1 gap-2 rounded-panel border border-line bg-panel p-3 text-ui"
    >
      <Head feedback={feedback} />
      {body === null && <p className="text-muted">{texts.erased}</p>}
      {body !== null && body !== '' && <p className="wrap-anywhere whitespace-pre-wrap">{body}</p>}
      {quoted.map((one) => (
        <div key={one.id} className="grid grid-cols-1 gap-1">
          <p className="text-meta text-muted">
            <span className="wrap-anywhere mono">{texts.line(one.path, one.line, one.startLine)}</span>
            {one.isOutdated && ` (${texts.outdated})`}
          </p>
          {one.hunk !== '' && (
            <Code label={texts.hunk}>
              <Hunk text={one.hunk} />
            </Code>
          )}
          <p className="wrap-anywhere whitespace-pre-wrap">{one.body}</p>
        </div>
      ))}
      {quoted.length < comments.length && (
        <p className="text-muted">{texts.more(comments.length - quoted.length)}</p>
      )}
      {check !== null && <Check check={check} />}
      {draft.edited !== null && <Editor text={draft.edited} onChange={draft.edit} />}
      {status === 'open' ? (
        <Actions taskId={taskId} feedback={feedback} draft={draft} send={send} isSending={isSending} />
      ) : (
        <>
          {draft.edited !== null && !isSending && <Unsent onDiscard={onDiscard} />}
          <Sent taskId={taskId} feedback={feedback} />
        </>
      )}
    </article>
  )
}

function titleOf({ kind, check, verdict, author }: ShownFeedback): string {
  if (kind === 'check') return texts.check(check?.name ?? '')
  const what = verdict === null ? texts.comment : texts.verdicts[verdict]
  return author === null ? what : `${what}: ${author.login}`
}

function Head({ feedback }: { readonly feedback: ShownFeedback }) {
  const { kind, check, verdict, author, right, isStale, url } = feedback
  const href = safeLink(url)
  const Icon = kind === 'check' ? CircleX : MessageSquare
  return (
    <header className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Icon className={kind === 'check' ? 'text-bad' : 'text-muted'} />
      <h3 className="font-semibold wrap-anywhere">
        {kind === 'check' ? texts.check(check?.name ?? '') : (author?.login ?? texts.comment)}
      </h3>
      {right !== null && <span className="text-meta text-muted">{texts.rights[right]}</span>}
      {verdict !== null && (
        <span className={verdict === 'changes_requested' ? 'text-meta text-bad' : 'text-meta text-muted'}>
          {texts.verdicts[verdict]}
        </span>
      )}
      {isStale && <span className="text-meta text-muted">{texts.stale}</span>}
      {href !== null && (
        <a
          href={href}
          target="_blank"
          rel="noreferrer"
          className="ml-auto inline-flex min-h-6 items-center text-meta text-accent hover:underline"
        >
          {texts.onGitHub}
        </a>
      )}
    </header>
  )
}

/** A block of code. It scrolls, so it must be reachable by keyboard. */
function Code({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <pre
      role="region"
      aria-label={label}
      tabIndex={0}
      className="max-h-60 overflow-auto rounded-control bg-raised p-2 mono"
    >
      {children}
    </pre>
  )
}

const lineColours: Readonly<Record<string, string>> = {
  '+': 'bg-add-bg',
  '-': 'bg-del-bg',
  '@': 'text-muted',
}

/** The lines of a diff with their line breaks, so that copied text equals the text at the code host. */
function Hunk({ text }: { readonly text: string }) {
  return (
    <code className="block w-max min-w-full">
      {text.split(/(?<=\n)/).map((line, index) => (
        <span key={`${index} ${line}`} className={classes('block', lineColours[line[0] ?? ''])}>
          {line}
        </span>
      ))}
    </code>
  )
}

function Check({ check }: { readonly check: NonNullable<ShownFeedback['check']> }) {
  const { summary, annotations, log, isLogCut } = check
  return (
    <>
      {summary !== '' && <p className="wrap-anywhere whitespace-pre-wrap">{summary}</p>}
      {annotations.length > 0 && (
        <ul className="grid gap-1">
          {annotations.map((one) => (
            <li key={`${one.path}:${one.line} ${one.message}`} className="wrap-anywhere">
              <span className="text-meta text-muted mono">{`${one.path}:${one.line}`}</span> {one.message}
            </li>
          ))}
        </ul>
      )}
      {log === null ? (
        <p className="text-muted">{texts.noLog}</p>
      ) : (
        <div className="grid grid-cols-1 gap-1">
          <p className="text-meta text-muted">{texts.log(isLogCut)}</p>
          <Code label={texts.log(isLogCut)}>{log}</Code>
        </div>
      )}
    </>
  )
}

/** The message that is being edited; `null` when there is none. An edited message is kept when the person leaves the page or dismisses the card. */
function useEdited(place: string) {
  const [text, setText, now] = useDraft(feedbackDrafts, place)
  const [editing, setEditing] = useState(text !== '')
  const edit = (next: string | null) => {
    setText(next ?? '')
    setEditing(next !== null)
  }
  return { edited: editing ? text : null, edit, now }
}

/** The editor of the message. It stays open when the feedback is sent meanwhile, so that no text is lost. */
function Editor({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  return (
    <div className="rounded-control border border-control px-2.5 py-2 has-focus-visible:outline-2 has-focus-visible:outline-accent">
      <TextArea
        label={texts.editing}
        value={text}
        minHeight={80}
        maxHeight={320}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  )
}

function Unsent({ onDiscard }: { readonly onDiscard: () => void }) {
  return (
    <Note
      kind="warning"
      action={
        <Button size="touch" onClick={onDiscard}>
          {texts.discard}
        </Button>
      }
    >
      {texts.unsent}
    </Note>
  )
}

interface ActionsProps extends CardProps {
  readonly draft: ReturnType<typeof useEdited>
  readonly send: ReturnType<typeof useSendFeedbackMutation>[0]
  readonly isSending: boolean
}

function Actions({ taskId, feedback, draft: { edited, edit, now }, send, isSending }: ActionsProps) {
  const { id: feedbackId, kind, canBeSent } = feedback
  const dispatch = useDispatch()
  const isDone = useIsDone()
  const [dismiss, dismissing] = useDismissFeedbackMutation()
  const [readMessage, reading] = useLazyFeedbackMessageQuery()
  const isOpen = useRef(true)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
    }
  }, [])
  const onSend = async () => {
    await heldWithdrawals.send?.()
    const call = send({ taskId, feedbackId, ...(edited === null ? {} : { message: edited }) })
    // Text that was written while the message was being sent is kept.
    if ((await isDone(call, texts.notSent)) && (edited === null || now() === edited)) edit(null)
  }
  const onEdit = async () => {
    if (edited !== null) return edit(null)
    const answer = await readMessage({ taskId, feedbackId }, true)
    if (answer.data === undefined) return dispatch(notifiedFailure(texts.messageNotFetched, answer.error))
    // The editor may have been closed meanwhile.
    if (isOpen.current) edit(answer.data.message)
  }
  const onDismiss = () => isDone(dismiss({ taskId, feedbackId }), texts.notDismissed)
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <Button kind="ghost" size="touch" busy={dismissing.isLoading} onClick={() => void onDismiss()}>
        {texts.dismiss}
      </Button>
      {canBeSent && (
        <Button size="touch" busy={reading.isFetching} disabled={isSending} onClick={() => void onEdit()}>
          {edited === null ? texts.edit : texts.cancel}
        </Button>
      )}
      <Button
        kind="primary"
        size="touch"
        busy={isSending}
        busyLabel={texts.sending}
        disabled={!canBeSent || reading.isFetching || edited?.trim() === ''}
        onClick={() => void onSend()}
      >
        {kind === 'check' ? texts.fix : texts.send}
      </Button>
    </div>
  )
}

/** Returns a function that waits for a call, shows a toast when the call fails, and says whether it succeeded. */
function useIsDone() {
  const dispatch = useDispatch()
  return async (call: PromiseLike<{ readonly error?: unknown }>, failure: string): Promise<boolean> => {
    const { error } = await call
    if (error !== undefined) dispatch(notifiedFailure(failure, error))
    return error === undefined
  }
}

function Sent({ taskId, feedback }: CardProps) {
  const { id: feedbackId, kind, isAutomatic, answer, answerRefused, commit, comments, isResolved } = feedback
  const isDone = useIsDone()
  const [resolve, { isLoading }] = useResolveFeedbackMutation()
  const [answerAgain, answering] = useAnswerFeedbackMutation()
  const onAnswer = () => isDone(answerAgain({ taskId, feedbackId }), texts.notAnswered)
  const onResolve = () => isDone(resolve({ taskId, feedbackId }), texts.notResolved)
  const outcome = answer === 'failed' ? texts.answers.failed(answerRefused ?? '') : texts.answers[answer]
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-meta text-muted">
      <p role="status" className="flex flex-wrap gap-x-2 gap-y-1">
        <span>{isAutomatic ? texts.automatic : texts.sentByHand}.</span>
        {commit !== null && <span>{texts.done(commit.slice(0, 7))}</span>}
        {kind !== 'check' && (
          <span className={answer === 'failed' ? 'wrap-anywhere text-bad' : ''}>{outcome}</span>
        )}
      </p>
      <span className="ml-auto flex flex-wrap items-center justify-end gap-2">
        {answer === 'failed' && (
          <Button
            size="touch"
            className="text-text"
            // Not `disabled`, which would remove the focus.
            aria-disabled={answering.isLoading || undefined}
            aria-busy={answering.isLoading || undefined}
            onClick={() => answering.isLoading || void onAnswer()}
          >
            {answering.isLoading ? texts.answering : texts.answerAgain}
          </Button>
        )}
        {comments.length > 0 && isResolved && texts.resolved}
        {comments.length > 0 && !isResolved && (
          <Button
            size="touch"
            className="text-text"
            busy={isLoading}
            busyLabel={texts.resolving}
            onClick={() => void onResolve()}
          >
            {texts.resolve}
          </Button>
        )}
      </span>
    </div>
  )
}

function Dismissed({ taskId, feedback }: CardProps) {
  const isDone = useIsDone()
  const [restore, { isLoading }] = useRestoreFeedbackMutation()
  const onUndo = () => isDone(restore({ taskId, feedbackId: feedback.id }), texts.notRestored)
  return (
    <p className="flex items-center gap-2 text-meta text-muted">
      <span className="min-w-0 flex-1 truncate">
        {texts.dismissed}: {titleOf(feedback)}
      </span>
      <Button size="touch" className="text-text" busy={isLoading} onClick={() => void onUndo()}>
        {texts.undo}
      </Button>
    </p>
  )
}
