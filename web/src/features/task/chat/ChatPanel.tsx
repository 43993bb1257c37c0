/** The chat of a task: what was said and done, what waits, and where to say more. */
import { ArrowDown, Search, X } from 'lucide-react'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useSelector } from 'react-redux'
import type { Task } from '#domain/api/tasks.ts'
import type { AgentName } from '../../../ui/AgentMark.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Empty } from '../../../ui/Empty.tsx'
import { IconButton } from '../../../ui/IconButton.tsx'
import { Note } from '../../../ui/Note.tsx'
import { Segmented } from '../../../ui/Segmented.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { useFollowEnd } from '../../../ui/useFollowEnd.ts'
import { useAgentOptions } from '../../agents/useAgentOptions.tsx'
import { selectOpenTask } from '../openTask.ts'
import { texts as taskTexts } from '../texts.ts'
import type { OpenRoom } from '../useRoom.ts'
import { useTaskActions } from '../useTaskActions.ts'
import { arrange, messagesIn, searched } from './arrange.ts'
import { ChatComposer } from './ChatComposer.tsx'
import { ChatEntries } from './ChatEntries.tsx'
import { useSendMessage } from './useSendMessage.ts'
import { texts } from './texts.ts'

interface ChatPanelProps {
  readonly task: Task
  readonly open: OpenRoom
  /** With a head of its own; in tabs the tab is its head. */
  readonly headed: boolean
}

export function ChatPanel({ task, open, headed }: ChatPanelProps) {
  const { chat, logs, sent } = useSelector(selectOpenTask)
  const writing = useSyncExternalStore(open.writing.subscribe, open.writing.read)
  const [agent, setAgent] = useState<AgentName>(task.agent)
  const agentOptions = useAgentOptions()
  const [search, setSearch] = useState<string | null>(null)
  const { box, content, following, onScroll, jumpToEnd } = useFollowEnd()
  const send = useSendMessage(task.id, open.reload)
  const { entries, queue } = useMemo(
    () =>
      arrange({
        task,
        messages: Object.values(chat.documents),
        logs: Object.values(logs.documents),
        writing,
        sent,
      }),
    [task, chat.documents, logs.documents, writing, sent],
  )
  const shown = search === null ? entries : searched(entries, search)

  return (
    <section aria-label={texts.chat.title} className="flex min-h-0 flex-1 flex-col">
      {headed && (
        <div className="flex h-10 flex-none items-center gap-2 border-b border-line bg-panel pr-2 pl-4">
          <h2 className="min-w-0 flex-1 truncate font-semibold">{texts.chat.title}</h2>
          <Segmented label={texts.chat.agent} options={agentOptions} chosen={agent} onChoose={setAgent} />
          <IconButton
            icon={Search}
            label={texts.chat.search}
            size="small"
            aria-expanded={search !== null}
            onClick={() => setSearch(search === null ? '' : null)}
          />
        </div>
      )}
      {search !== null && (
        <SearchBar
          words={search}
          found={search.trim() === '' ? null : messagesIn(shown)}
          onChange={setSearch}
          onClose={() => setSearch(null)}
        />
      )}
      <div className="relative flex min-h-0 flex-1 flex-col">
        <div ref={box} onScroll={onScroll} className="min-h-0 flex-1 overflow-y-auto">
          <div ref={content} className="pb-3">
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
            {entries.length === 0 && chat.load.kind === 'loading' ? (
              <Loading />
            ) : entries.length === 0 && chat.load.kind === 'loaded' ? (
              <Empty title={texts.chat.empty}>{texts.chat.emptyWhy}</Empty>
            ) : (
              <ChatEntries
                entries={shown}
                task={task}
                wasSeen={open.writing.wasSeen}
                onDiscard={send.discard}
                onResend={send.again}
              />
            )}
            {search === null && <Failure task={task} />}
          </div>
        </div>
        {!following && (
          <Button
            size="small"
            icon={<ArrowDown className="size-3.5" />}
            onClick={jumpToEnd}
            className="absolute bottom-2 left-1/2 -translate-x-1/2 shadow-float"
          >
            {texts.chat.latest}
          </Button>
        )}
      </div>
      <ChatComposer
        task={task}
        tools={logs.documents}
        queue={queue}
        onSend={(text, isCommand) => {
          jumpToEnd()
          send.send(text, isCommand, agent)
        }}
      />
    </section>
  )
}

interface SearchBarProps {
  readonly words: string
  readonly found: number | null
  readonly onChange: (words: string) => void
  readonly onClose: () => void
}

function SearchBar({ words, found, onChange, onClose }: SearchBarProps) {
  return (
    <search className="flex h-10 flex-none items-center gap-2 border-b border-line-soft bg-panel pr-2 pl-4">
      <Search className="size-3.5 text-muted" />
      <input
        ref={focusWhenShown}
        type="search"
        aria-label={texts.chat.search}
        placeholder={texts.chat.search}
        value={words}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.preventDefault()
          onClose()
        }}
        className="min-w-0 flex-1 bg-transparent text-typed outline-none"
      />
      <span role="status" className="text-meta whitespace-nowrap text-muted">
        {found !== null && texts.chat.found(found)}
      </span>
      <IconButton icon={X} label={texts.chat.closeSearch} size="row" onClick={onClose} />
    </search>
  )
}

function focusWhenShown(input: HTMLInputElement | null): void {
  input?.focus()
}

/** Why the last turn failed, and the way to try it again. */
function Failure({ task }: { readonly task: Task }) {
  const { retry, retrying } = useTaskActions(task)
  if (task.status !== 'failed' || task.failure === null) return null
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
      {task.failure.reason !== '' && <span className="block">{task.failure.reason}</span>}
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
