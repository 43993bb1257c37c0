/** What was said and done, from the oldest that is drawn to the latest. It stays at the end unless somebody goes back. */
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useSelector } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import type { useFollowEnd } from '../../../ui/layout/useFollowEnd.ts'
import { unread } from '../folded.ts'
import { selectOpenTask } from '../taskSlice.ts'
import { texts as taskTexts } from '../texts.ts'
import type { OpenTaskSync } from '../useTaskSync.ts'
import { useTaskActions } from '../useTaskActions.ts'
import { withoutReason, type ChatEntry } from './chatTimeline.ts'
import { ChatEntries } from './entries/ChatEntries.tsx'
import { chatWidth } from './chatWidth.ts'
import { texts } from './texts.ts'
import { useEarlier } from './useEarlier.ts'
import { useUnread } from './useUnread.ts'

interface ChatHistoryProps {
  readonly task: Task
  readonly entries: readonly ChatEntry[]
  readonly queue: readonly MessageDocument[]
  readonly searching: boolean
  readonly open: OpenTaskSync
  readonly follow: ReturnType<typeof useFollowEnd>
  readonly onResend: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** Pixels from the top at which more is drawn, before it is seen to be missing. */
const soon = 600

export function ChatHistory({
  task,
  entries,
  queue,
  searching,
  open,
  follow,
  onResend,
  onDiscard,
}: ChatHistoryProps) {
  const { chat, logs } = useSelector(selectOpenTask)
  const { box, content, following, onScroll, jumpToEnd } = follow
  const earlier = useEarlier(entries, chat.before !== null || logs.before !== null, box, following)
  const news = useUnread(entries, following)
  const { more, failed, busy, show } = earlier
  const failure = !searching && task.status === 'failed' ? task.failure : null
  // What is looked for may be anywhere.
  useEffect(() => {
    if (searching && chat.before !== null && !busy && !failed) show('all')
  }, [searching, chat.before, busy, failed, show])

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div
        ref={box}
        onScroll={({ currentTarget }) => {
          onScroll()
          if (currentTarget.scrollTop < soon && currentTarget.clientHeight > 0 && !following && !failed)
            show()
        }}
        className="min-h-0 flex-1 overflow-y-auto"
      >
        <div ref={content} className={`pb-3 ${chatWidth}`}>
          {chat.load.kind === 'failed' && (
            <Note
              kind="error"
              className="m-4"
              action={
                <Button size="small" onClick={open.reload}>
                  {taskTexts.tryAgain}
                </Button>
              }
            >
              {chat.load.fault.message || taskTexts.chatNotFetched}
            </Note>
          )}
          {task.unreadable && (
            <Note kind="error" className="m-4">
              {texts.chat.unreadable(task.unreadable.reason)}
            </Note>
          )}
          {more && entries.length > 0 && (
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
          )}
          {/* Steps of an agent are known before the message they answer: they wait for it. */}
          {chat.load.kind === 'loading' &&
          chat.at === unread.at &&
          !entries.some(({ kind }) => kind === 'sent') ? (
            <Loading />
          ) : entries.length === 0 && queue.length === 0 && chat.load.kind === 'loaded' && !searching ? (
            <Empty title={texts.chat.empty}>{texts.chat.emptyWhy}</Empty>
          ) : (
            <ChatEntries
              entries={failure === null ? earlier.drawn : withoutReason(earlier.drawn, failure.reason)}
              task={task}
              following={following}
              wasSeen={open.writing.wasSeen}
              onDiscard={onDiscard}
              onResend={onResend}
            />
          )}
          {failure !== null && <Failure task={task} reason={failure.reason} />}
        </div>
      </div>
      {!following && (
        <Button
          size="small"
          icon={<ArrowDown className="size-3.5" />}
          onClick={jumpToEnd}
          className="absolute bottom-2 left-1/2 h-11! -translate-x-1/2 shadow-float md:h-7!"
        >
          {texts.chat.latest}
          {news > 0 && <span className="text-run">{texts.chat.unread(news)}</span>}
        </Button>
      )}
    </div>
  )
}

/** Why the last turn failed, and the way to try it again. */
function Failure({ task, reason }: { readonly task: Task; readonly reason: string }) {
  const { retry, retrying } = useTaskActions(task)
  return (
    <Note
      kind="error"
      className="mx-4 mt-4"
      action={
        <Button size="small" busy={retrying} busyLabel={texts.chat.retrying} onClick={retry}>
          {texts.chat.retry}
        </Button>
      }
    >
      <b className="font-medium">{texts.chat.failed}</b>
      {reason !== '' && <span className="block">{reason}</span>}
    </Note>
  )
}

function Loading() {
  // A quick answer needs no skeleton that flashes by.
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
