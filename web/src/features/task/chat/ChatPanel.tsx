/** The chat of a task: what was said and done, what waits, and where to say more. */
import { Search } from 'lucide-react'
import { useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { useSelector } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { type AgentName, isAgentName } from '#domain/agents.ts'
import { useAction } from '../../../actions/ActionsContext.tsx'
import { shortcutOf } from '../../../actions/Keys.tsx'
import { AgentMark } from '../../../ui/AgentMark.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { Picker } from '../../../ui/overlay/Picker.tsx'
import { Segmented } from '../../../ui/form/Segmented.tsx'
import { SearchBar } from '../../../ui/form/SearchBar.tsx'
import { useFollowEnd } from '../../../ui/layout/useFollowEnd.ts'
import { texts as agentTexts } from '../../agents/texts.ts'
import { useAgentOptions } from '../../agents/useAgentOptions.tsx'
import { selectOpenTask } from '../taskSlice.ts'
import type { OpenTaskSync } from '../useTaskSync.ts'
import { Announcer } from './Announcer.tsx'
import { chatTimeline, messagesIn, searched, searchedQueue } from './chatTimeline.ts'
import { ChatComposer } from './composer/ChatComposer.tsx'
import { ChatHistory } from './ChatHistory.tsx'
import { SearchContext, useMarks } from './searchMarks.ts'
import { texts } from './texts.ts'
import { useSendMessage } from './composer/useSendMessage.ts'

interface ChatPanelProps {
  readonly task: Task
  readonly open: OpenTaskSync
  /** With a head of its own; in tabs the tab is its head, and the agent is chosen where one writes. */
  readonly headed: boolean
  /** Where its button goes when it has no head. */
  readonly tools: HTMLElement | null
}

export function ChatPanel({ task, open, headed, tools }: ChatPanelProps) {
  const { chat, logs, sent } = useSelector(selectOpenTask)
  const writing = useSyncExternalStore(open.writing.subscribe, open.writing.read)
  const [agent, setAgent] = useState<AgentName>(task.agent)
  const agentOptions = useAgentOptions()
  const [search, setSearch] = useState<string | null>(null)
  const [hasFocus, setHasFocus] = useState(false)
  const follow = useFollowEnd()
  const send = useSendMessage(task.id, open.reload)
  const { entries, queue } = useMemo(
    () =>
      chatTimeline({
        task,
        messages: Object.values(chat.documents),
        logs: Object.values(logs.documents),
        moreLogs: logs.before !== null,
        writing,
        sent: sent.filter(({ taskId }) => taskId === task.id),
      }),
    [task, chat.documents, logs, writing, sent],
  )
  const words = search?.trim() ?? ''
  const shown = useMemo(() => (words === '' ? entries : searched(entries, words)), [entries, words])
  const found = useMemo(() => messagesIn(shown) + searchedQueue(queue, words).length, [shown, queue, words])
  const panel = useRef<HTMLElement>(null)
  const marks = useMarks(panel, words)
  const openSearch = () => setSearch((looked) => looked ?? '')
  const closeSearch = () => setSearch(null)
  useAction('searchChat', openSearch)
  useAction('findInChat', openSearch, hasFocus)
  useAction('closeChatSearch', closeSearch, search !== null && hasFocus)

  const searchButton = (
    <IconButton
      icon={Search}
      label={texts.chat.search.label}
      size="small"
      aria-expanded={search !== null}
      onClick={search === null ? openSearch : closeSearch}
    />
  )
  const agentChoice = useMemo(
    () =>
      headed ? null : (
        <Picker
          label={texts.chat.agent}
          placeholder={agent}
          icon={<AgentMark agent={agent} bare />}
          options={agentOptions}
          chosen={agent}
          onChoose={(value) => {
            if (isAgentName(value)) setAgent(value)
          }}
          shrinks
          filterLabel={agentTexts.filter}
          emptyText={agentTexts.none}
        />
      ),
    [headed, agent, agentOptions],
  )
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it only knows whether it has the focus, for keys that are also the terminal's
    <section
      ref={panel}
      aria-label={texts.chat.title}
      onFocus={() => setHasFocus(true)}
      onBlur={({ currentTarget, relatedTarget }) => setHasFocus(currentTarget.contains(relatedTarget))}
      className="flex min-h-0 flex-1 flex-col"
    >
      {headed ? (
        <div className="flex h-10 flex-none items-center gap-2 border-b border-line bg-panel pr-2 pl-4">
          <h2 className="min-w-0 flex-1 truncate font-semibold">{texts.chat.title}</h2>
          <Segmented label={texts.chat.agent} options={agentOptions} chosen={agent} onChoose={setAgent} />
          {searchButton}
        </div>
      ) : (
        tools !== null && createPortal(searchButton, tools)
      )}
      {search !== null && (
        <SearchBar
          names={texts.chat.search}
          keys={{ close: shortcutOf('closeChatSearch') }}
          words={search}
          onWords={setSearch}
          said={
            words === ''
              ? ''
              : chat.before !== null
                ? `${texts.chat.found(found)} · ${texts.chat.reading}`
                : texts.chat.found(found)
          }
          nothing={words === '' || found === 0}
          onStep={marks.go}
          onClose={closeSearch}
        />
      )}
      <SearchContext value={words}>
        <ChatHistory
          task={task}
          entries={shown}
          queue={queue}
          searching={words !== ''}
          open={open}
          follow={follow}
          onDiscard={send.discard}
          onResend={send.again}
        />
      </SearchContext>
      <Announcer status={task.status} entries={entries} />
      <ChatComposer
        task={task}
        agent={agent}
        agentChoice={agentChoice}
        tools={logs.documents}
        queue={queue}
        onSend={(text, isCommand, images, withSecrets) => {
          follow.jumpToEnd()
          send.send(text, isCommand, agent, images, withSecrets)
        }}
      />
    </section>
  )
}
