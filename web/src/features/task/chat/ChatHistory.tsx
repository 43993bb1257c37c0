/** The messages and tool calls, from the oldest rendered one to the latest. The list stays scrolled to its end unless somebody scrolls back. */
import { ArrowUp } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { useSelector } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { CountdownButton } from '../../../ui/form/CountdownButton.tsx'
import { optionalPart } from '../../../ui/optionalPart.tsx'
import { Linked } from '../../../ui/text/Linked.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import type { useFollowEnd } from '../../../ui/layout/useFollowEnd.ts'
import { tellsOfLostAccess } from '../../github/lostAccess.ts'
import { isRecordDamaged } from '../../tasks/taskStatus.ts'
import { JumpToEnd } from '../JumpToEnd.tsx'
import { FailureNote } from '../FailureNote.tsx'
import { unread } from '../foldedDocuments.ts'
import { LastTurnActions, UndoneTurns, type FinishedTurn } from '../fork/useTurnActions.tsx'
import { selectOpenTask } from '../taskSlice.ts'
import { useReplayed } from '../replayContext.ts'
import { texts as taskTexts } from '../texts.ts'
import type { OpenTaskSync } from '../useTaskSync.ts'
import { useTaskActions } from '../useTaskActions.ts'
import { withoutReason, type ChatEntry } from './chatTimeline.ts'
import { ChatEntries } from './entries/ChatEntries.tsx'
import { chatWidth } from './chatWidth.ts'
import { texts } from './texts.ts'
import { useEarlier, useUnread } from './historyScroll.ts'

const Reconnect = optionalPart(async () => (await import('../../github/Reconnect.tsx')).Reconnect)
const FeedbackCards = optionalPart(async () => (await import('../feedback/FeedbackCards.tsx')).FeedbackCards)

interface ChatHistoryProps {
  readonly task: Task
  readonly entries: readonly ChatEntry[]
  /** All entries, also those that a search leaves out. */
  readonly all: readonly ChatEntry[]
  readonly queue: readonly MessageDocument[]
  readonly searching: boolean
  readonly open: OpenTaskSync
  readonly follow: ReturnType<typeof useFollowEnd>
  readonly onResend: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** The distance from the top, in pixels, at which earlier entries are rendered: early enough that nobody sees a gap. */
const preloadDistancePx = 600

export function ChatHistory(props: ChatHistoryProps) {
  const { task, entries, searching, open } = props
  const { chat, logs } = useSelector(selectOpenTask)
  const { box, content, following, onScroll, jumpToEnd } = props.follow
  const earlier = useEarlier(entries, chat.before !== null || logs.before !== null, box, following)
  const news = useUnread(entries, following)
  const isReplayed = useReplayed() !== null
  const { busy, failed, show } = earlier
  const isDamaged = isRecordDamaged(task)
  const isReadOnly = isReplayed || isDamaged
  const failure = !searching && task.status === 'failed' && !isDamaged ? task.failure : null
  // A search covers all messages, so all of them are loaded.
  useEffect(() => {
    if (searching && chat.before !== null && !busy && !failed) show('all')
  }, [searching, chat.before, busy, failed, show])

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div
        ref={box}
        onScroll={({ currentTarget }) => {
          onScroll()
          if (
            currentTarget.scrollTop < preloadDistancePx &&
            currentTarget.clientHeight > 0 &&
            !following &&
            !failed
          )
            show()
        }}
        className="min-h-0 flex-1 overflow-y-auto"
      >
        <div ref={content} className={`pb-3 ${chatWidth}`}>
          {chat.load.kind === 'failed' && (
            <FailureNote className="m-4" onRetry={open.reload}>
              {chat.load.fault.message || taskTexts.chatNotFetched}
            </FailureNote>
          )}
          {earlier.more && entries.length > 0 && <ShowEarlier earlier={earlier} />}
          <Entries
            {...props}
            rendered={failure === null ? earlier.rendered : withoutReason(earlier.rendered, failure.reason)}
          />
          {failure !== null && <Failure task={task} reason={failure.reason} />}
          {tellsOfLostAccess(task) && !isReadOnly && (
            <Suspense fallback={null}>
              <Reconnect task={task} />
            </Suspense>
          )}
          {!isDamaged && <UndoneTurns task={task} />}
          {task.prNumber !== null && !isReadOnly && (
            <Suspense fallback={null}>
              <FeedbackCards task={task} />
            </Suspense>
          )}
          <LastTurnActions turn={isDamaged ? null : lastTurn(props.all, task)} />
        </div>
      </div>
      {!following && (
        <JumpToEnd onJump={jumpToEnd} className="bottom-2 left-1/2 h-11! -translate-x-1/2 md:h-7!">
          {texts.chat.latest}
          {news > 0 && <span className="text-run">{texts.chat.unread(news)}</span>}
        </JumpToEnd>
      )}
    </div>
  )
}

/** The last turn that was not undone; `null` if there is none, and while a turn is running. */
function lastTurn(entries: readonly ChatEntry[], { undone = [] }: Task): FinishedTurn | null {
  const turns = entries.filter((entry) => entry.kind === 'turn')
  if (turns.some(({ live }) => live)) return null
  const last = turns.findLast(({ key }) => !undone.includes(key))
  return last ? { executionId: last.key, agent: last.agent, isUndone: false } : null
}

interface EntriesProps extends ChatHistoryProps {
  readonly rendered: readonly ChatEntry[]
}

function Entries({
  task,
  entries,
  rendered,
  queue,
  searching,
  open,
  follow,
  onDiscard,
  onResend,
}: EntriesProps) {
  const { chat } = useSelector(selectOpenTask)
  const isLoading = chat.load.kind === 'loading' && chat.at === unread.at
  // An agent's steps may be loaded before the messages, so the entries wait for the messages.
  if (isLoading && !entries.some(({ kind }) => kind === 'sent')) return <Loading />
  if (entries.length === 0 && queue.length === 0 && chat.load.kind === 'loaded' && !searching) {
    return <Empty title={texts.chat.empty}>{texts.chat.emptyWhy}</Empty>
  }
  return (
    <ChatEntries
      entries={rendered}
      task={task}
      following={follow.following}
      wasSeen={open.writing.wasSeen}
      onDiscard={onDiscard}
      onResend={onResend}
    />
  )
}

function ShowEarlier({ earlier }: { readonly earlier: ReturnType<typeof useEarlier> }) {
  const { failed, busy, show } = earlier
  return (
    <div className="flex items-center justify-center gap-2 px-4 pt-3 text-meta text-muted">
      {failed && <span role="status">{texts.chat.earlierNotRead}</span>}
      <Button
        size="small"
        kind="ghost"
        icon={<ArrowUp className="size-3.5" />}
        busy={busy}
        busyLabel={texts.chat.readingEarlier}
        onClick={() => show()}
      >
        {texts.chat.earlier}
      </Button>
    </div>
  )
}

function Failure({ task, reason }: { readonly task: Task; readonly reason: string }) {
  const { retry, retrying } = useTaskActions(task)
  const isReplayed = useReplayed() !== null
  return (
    <Note
      kind="error"
      className="mx-4 mt-4"
      action={
        isReplayed ? undefined : (
          <CountdownButton
            until={task.failure?.retryAt === undefined ? null : Date.parse(task.failure.retryAt)}
            size="small"
            busy={retrying}
            busyLabel={texts.chat.retrying}
            onClick={retry}
          >
            {texts.chat.retry}
          </CountdownButton>
        )
      }
    >
      <b className="font-medium">{texts.chat.failed}</b>
      {reason !== '' && (
        <span className="block">
          <Linked text={reason} />
        </span>
      )}
    </Note>
  )
}

function Loading() {
  // A skeleton that only flashes is worse than none, so it appears after a delay.
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status" className="grid gap-3 p-4">
      <span className="sr-only">{taskTexts.loading}</span>
      {late && (
        <>
          <Skeleton className="h-14 w-full" />
          <Skeleton className="h-4 w-3/4" />
          <Skeleton className="h-4 w-1/2" />
        </>
      )}
    </div>
  )
}
