/** The chat of a task: its history, the queue, and the composer. */
import { Search } from 'lucide-react'
import {
  type ReactNode,
  type RefObject,
  Suspense,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { createPortal } from 'react-dom'
import { useSelector } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { sortKey } from '#domain/kernel/event.ts'
import type { AgentName } from '#domain/agents.ts'
import { useAction } from '../../../actions/ActionsContext.tsx'
import { shortcutOf } from '../../../actions/Keys.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { optionalPart } from '../../../ui/optionalPart.tsx'
import { Segmented } from '../../../ui/form/Segmented.tsx'
import { SearchBar } from '../../../ui/form/SearchBar.tsx'
import { useFollowEnd } from '../../../ui/layout/useFollowEnd.ts'
import { AgentPicker, useAgentOptions } from '../../agents/AgentPicker.tsx'
import { maxImages } from '../../images/acceptFiles.ts'
import { usePendingImages } from '../../images/usePendingImages.ts'
import { isRecordDamaged } from '../../tasks/taskStatus.ts'
import { openQuestions, selectOpenTask } from '../taskSlice.ts'
import type { OpenTaskSync } from '../useTaskSync.ts'
import { useReplayed } from '../replayContext.ts'
import { useWidth } from '../useWidth.ts'
import { chatTimeline, countMatches, matchingEntries, matchingQueue, type ChatEntry } from './chatTimeline.ts'
import { ChatComposer } from './composer/ChatComposer.tsx'
import { ChatHistory } from './ChatHistory.tsx'
import { SearchContext, useMarks } from './searchMarks.ts'
import { texts } from './texts.ts'
import { useSendMessage } from './composer/useSendMessage.ts'

const TodoList = optionalPart(async () => (await import('./TodoList.tsx')).TodoList)

interface ChatPanelProps {
  readonly task: Task
  readonly open: OpenTaskSync
  /** Whether the panel has a header of its own. A panel in tabs has no header; the agent is then chosen next to the message box. */
  readonly headed: boolean
  /** The element that gets the panel's button when the panel has no header. */
  readonly tools: HTMLElement | null
}

export function ChatPanel({ task, open, headed, tools }: ChatPanelProps) {
  const { logs } = useSelector(selectOpenTask)
  const timeline = useTimeline(task, open)
  const { entries, queue } = timeline
  const [agent, setAgent] = useState<AgentName>(task.agent)
  const [hasFocus, setHasFocus] = useState(false)
  const panel = useRef<HTMLElement>(null)
  const search = useChatSearch(timeline, panel, hasFocus)
  const follow = useFollowEnd()
  const replayed = useReplayed()
  const isDamaged = isRecordDamaged(task)
  const send = useSendMessage(task.id, open.reload)
  // Here, because the composer is not mounted during a replay.
  const pending = usePendingImages(maxImages.message)
  const agentChoice = useMemo(
    () =>
      headed ? null : <AgentPicker label={texts.chat.agent} agent={agent} onChoose={setAgent} shrinks />,
    [headed, agent],
  )
  const searchButton = <SearchButton search={search} />
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it only watches the focus, for keys that the terminal has too
    <section
      ref={panel}
      aria-label={texts.chat.title}
      onFocus={() => setHasFocus(true)}
      onBlur={({ currentTarget, relatedTarget }) => setHasFocus(currentTarget.contains(relatedTarget))}
      className="flex min-h-0 flex-1 flex-col"
    >
      {headed ? (
        <Header agent={agent} onAgent={replayed || isDamaged ? null : setAgent}>
          {searchButton}
        </Header>
      ) : (
        tools !== null && createPortal(searchButton, tools)
      )}
      <Find search={search} />
      <Todos entries={entries} />
      <SearchContext value={search.words}>
        <ChatHistory
          task={task}
          entries={search.matches}
          all={entries}
          queue={queue}
          searching={search.words !== ''}
          open={open}
          follow={follow}
          onDiscard={send.discard}
          onResend={send.again}
        />
      </SearchContext>
      {!replayed && <Announcer status={task.status} entries={entries} />}
      {replayed ? (
        <replayed.Dock queue={queue} />
      ) : isDamaged ? null : (
        <ChatComposer
          task={task}
          agent={agent}
          agentChoice={agentChoice}
          tools={logs.documents}
          pending={pending}
          queue={queue}
          onReload={open.reload}
          onSend={(text, isCommand, images, withSecrets) => {
            follow.jumpToEnd()
            send.send(text, isCommand, agent, images, withSecrets)
          }}
        />
      )}
    </section>
  )
}

/** The recorded chat, together with the text that is being written and the messages that were just sent. */
function useTimeline(task: Task, open: OpenTaskSync) {
  const { chat, logs, questions, sent } = useSelector(selectOpenTask)
  const writing = useSyncExternalStore(open.writing.subscribe, open.writing.read)
  return useMemo(
    () =>
      chatTimeline({
        task,
        messages: Object.values(chat.documents),
        logs: Object.values(logs.documents),
        questions: Object.values(questions.documents).filter(
          ({ order }) => chat.before === null || order > sortKey(chat.before),
        ),
        moreLogs: logs.before !== null,
        writing,
        sent: sent.filter(({ taskId }) => taskId === task.id),
      }),
    [task, chat, logs, questions.documents, writing, sent],
  )
}

/** The agent's to-do list, shown if the running or else the last turn has worked on it. */
function Todos({ entries }: { readonly entries: readonly ChatEntry[] }) {
  const turn = entries.findLast((entry) => entry.kind === 'turn')
  const isPlanned = turn?.parts.some((part) => part.kind === 'tool' && part.log.kind === 'todo') ?? false
  return (
    isPlanned && (
      <Suspense fallback={null}>
        <TodoList running={turn?.live ?? false} />
      </Suspense>
    )
  )
}

function useChatSearch(
  { entries, queue }: ReturnType<typeof useTimeline>,
  panel: RefObject<HTMLElement | null>,
  hasFocus: boolean,
) {
  /** The search text; `null` while the search is closed. */
  const [typed, setTyped] = useState<string | null>(null)
  const words = typed?.trim() ?? ''
  const matches = useMemo(() => (words === '' ? entries : matchingEntries(entries, words)), [entries, words])
  const matchCount = useMemo(
    () => countMatches(matches) + matchingQueue(queue, words).length,
    [matches, queue, words],
  )
  const marks = useMarks(panel, words)
  const open = () => setTyped((before) => before ?? '')
  const close = () => setTyped(null)
  useAction('searchChat', open)
  useAction('findInChat', open, hasFocus)
  useAction('closeChatSearch', close, typed !== null && hasFocus)
  return { typed, setTyped, words, matches, matchCount, step: marks.go, open, close }
}

interface SearchProps {
  readonly search: ReturnType<typeof useChatSearch>
}

function SearchButton({ search: { typed, open, close } }: SearchProps) {
  return (
    <IconButton
      icon={Search}
      label={texts.chat.search.label}
      size="small"
      aria-expanded={typed !== null}
      onClick={typed === null ? open : close}
    />
  )
}

function Find({ search: { typed, setTyped, words, matchCount, step, close } }: SearchProps) {
  const { chat } = useSelector(selectOpenTask)
  if (typed === null) return null
  const count = texts.chat.found(matchCount)
  return (
    <SearchBar
      names={texts.chat.search}
      keys={{ close: shortcutOf('closeChatSearch') }}
      words={typed}
      onWords={setTyped}
      result={words === '' ? '' : chat.before === null ? count : `${count} · ${texts.chat.reading}`}
      nothing={words === '' || matchCount === 0}
      onStep={step}
      onClose={close}
    />
  )
}

interface HeaderProps {
  readonly agent: AgentName
  /** Called when another agent is chosen; `null` when no message can be written. */
  readonly onAgent: ((agent: AgentName) => void) | null
  readonly children: ReactNode
}

/** The width in pixels that the header needs for each agent to show them all beside each other. */
const widthPerAgent = 110

function Header({ agent, onAgent, children }: HeaderProps) {
  const [width, measured] = useWidth()
  // Codex is left out while it cannot run, unless it is the chosen agent; other agents that cannot run stay as disabled options.
  const options = useAgentOptions(agent).filter(
    ({ value, disabled }) => disabled === undefined || value === agent || value !== 'codex',
  )
  return (
    <div
      ref={measured}
      className="flex h-10 flex-none items-center gap-2 border-b border-line bg-panel pr-2 pl-4"
    >
      <h2 className="min-w-0 flex-1 truncate font-semibold">{texts.chat.title}</h2>
      {onAgent === null ? null : width === 0 || width >= widthPerAgent * options.length ? (
        <Segmented label={texts.chat.agent} options={options} chosen={agent} onChoose={onAgent} />
      ) : (
        <AgentPicker label={texts.chat.agent} agent={agent} onChoose={onAgent} />
      )}
      {children}
    </div>
  )
}

interface AnnouncerProps {
  readonly status: Task['status']
  readonly entries: readonly ChatEntry[]
}

/**
 * Announces to screen readers what a sighted person would notice: that the agent is done, was stopped, or has a question. It never reads out the text
 * word by word.
 */
function Announcer({ status, entries }: AnnouncerProps) {
  const { questions } = useSelector(selectOpenTask)
  const asked = openQuestions(questions).at(-1)?.id ?? null
  const [askedBefore, setAskedBefore] = useState(asked)
  const [before, setBefore] = useState(status)
  const [announced, setAnnounced] = useState('')
  if (before !== status) {
    setBefore(status)
    setAnnounced(announcement(before, status, entries))
  }
  if (askedBefore !== asked) {
    setAskedBefore(asked)
    if (asked !== null) setAnnounced(texts.chat.asks(questions.documents[asked]?.title ?? ''))
  }
  return (
    <p role="status" className="sr-only">
      {announced}
    </p>
  )
}

/** The announcement for a status change; a failure is announced by its own alert. */
export function announcement(
  before: Task['status'],
  status: Task['status'],
  entries: readonly ChatEntry[],
): string {
  if (before !== 'running' && before !== 'queued') return ''
  if (status === 'cancelled') return texts.chat.stopped
  if (status !== 'completed') return ''
  const last = entries.findLast((entry) => entry.kind === 'turn')
  const words = last?.parts.findLast((part) => part.kind === 'text')?.message.message?.trim() ?? ''
  const question = words.split(/\n+/).at(-1) ?? ''
  return question.endsWith('?') ? texts.chat.asks(question) : texts.chat.finished
}
