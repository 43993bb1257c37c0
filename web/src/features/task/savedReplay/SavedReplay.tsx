/** The page of a saved replay: the chat beside the terminal, the changes and the history, above the replay controls. */
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { Provider, useSelector } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { splitPosition } from '../splitPosition.ts'
import { AgentMark } from '../../../ui/AgentMark.tsx'
import { classes } from '../../../ui/classes.ts'
import { useMedia } from '../../../ui/hooks.ts'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { SplitView } from '../../../ui/layout/SplitView.tsx'
import { scrollingTabs, tabPanelProps, Tabs } from '../../../ui/layout/Tabs.tsx'
import { shownStatusOf } from '../../tasks/taskStatus.ts'
import { Status } from '../../../ui/status/Status.tsx'
import { dateAndTime } from '../../../ui/text/dates.ts'
import { Toasts } from '../../notifications/Toasts.tsx'
import { CodeChanges } from '../changes/CodeChanges.tsx'
import { ChatPanel } from '../chat/ChatPanel.tsx'
import { HistoryPanel } from '../history/HistoryPanel.tsx'
import type { HistorySession, ReplayMoment } from '../history/historySession.ts'
import { RecordedChanges } from '../replay/RecordedChanges.tsx'
import { ReplayedDock } from '../replay/ReplayedDock.tsx'
import { Scrubber } from '../replay/Scrubber.tsx'
import { useHistory } from '../history/useHistory.ts'
import { useReplayKeys } from '../replay/useReplayKeys.ts'
import { ReplayContext, type Replayed } from '../replayContext.ts'
import { selectOpenTask } from '../taskSlice.ts'
import { TerminalPanel } from '../terminal/TerminalPanel.tsx'
import { texts as taskTexts } from '../texts.ts'
import type { OpenTaskSync } from '../useTaskSync.ts'
import { texts } from './texts.ts'

interface SavedReplayProps {
  readonly session: HistorySession
  readonly savedAt: string
  readonly leftOut: { readonly moments: number; readonly images: number }
}

export function SavedReplay({ session, savedAt, leftOut }: SavedReplayProps) {
  const moment = useHistory(session, ({ replay }) => replay)
  const load = useHistory(session, (view) => view.load)
  const shown = session.replayed()
  useReplayKeys(session)
  useMomentInAddress(moment)
  const replayed = useReplayedMoment(session, moment)
  if (moment === null || shown === null)
    return (
      <main>
        <h1 className="sr-only">{texts.label}</h1>
        {load === 'loaded' && <Empty title={texts.empty}>{texts.emptyWhy}</Empty>}
      </main>
    )
  return (
    <Provider store={shown.store}>
      <ReplayContext value={replayed}>
        <main id="main" tabIndex={-1} className="flex h-full min-h-96 flex-col outline-none">
          <Header savedAt={savedAt} leftOut={leftOut} />
          <Panels session={session} open={shown.open} />
          <Scrubber taskId={null} session={session} replay={moment} />
        </main>
        <Toasts />
      </ReplayContext>
    </Provider>
  )
}

/** How long a moment must be shown before it is put in the address, in ms, because browsers refuse many changes in a row. */
const restMs = 300

function useMomentInAddress(shown: ReplayMoment | null): void {
  const moment = shown === null || shown.playing ? null : shown.moment
  useEffect(() => {
    if (moment === null) return undefined
    const timer = setTimeout(() => window.history.replaceState(null, '', `#at=${moment}`), restMs)
    return () => clearTimeout(timer)
  }, [moment])
}

/** The replay context of a saved replay: the shown time, and the fact that there is no server. */
function useReplayedMoment(session: HistorySession, moment: ReplayMoment | null): Replayed {
  const now = Math.floor((moment?.time ?? 0) / 1_000) * 1_000
  const changesAt = moment?.changesAt ?? null
  return useMemo(
    () => ({
      now,
      changesAt,
      changes: session.changes,
      Dock: SavedDock,
      Changes: RecordedChanges,
      isSaved: true,
    }),
    [now, changesAt, session],
  )
}

const SavedDock: Replayed['Dock'] = ({ queue }) => <ReplayedDock queue={queue} says={texts.readOnly} />

function Header({ savedAt, leftOut: { moments, images } }: Omit<SavedReplayProps, 'session'>) {
  const { task } = useSelector(selectOpenTask)
  const title = task?.title ?? texts.label
  useEffect(() => {
    document.title = `${title} · ${texts.label}`
  }, [title])
  return (
    <header className="flex flex-none items-center gap-3 border-b border-line bg-panel px-4 py-2">
      {task !== null && <AgentMark agent={task.agent} />}
      <div className="min-w-0 flex-1">
        <h1 dir="auto" className="truncate text-title font-semibold" title={title}>
          {title}
        </h1>
        <p className="text-meta text-muted">
          {texts.says(dateAndTime(savedAt))} {moments + images > 0 && texts.leftOut(moments, images)}
        </p>
      </div>
      {task !== null && <Status status={shownStatusOf(task)} />}
    </header>
  )
}

type Panel = 'chat' | 'terminal' | 'changes' | 'history'

interface PanelsProps {
  readonly session: HistorySession
  readonly open: OpenTaskSync
}

function Panels({ session, open }: PanelsProps) {
  const { task } = useSelector(selectOpenTask)
  const split = useMedia('(width >= 900px)')
  const [position, setPosition] = useState(splitPosition.initial)
  // The stream may be unreadable from its first event on; in that case the history says so.
  if (task === null)
    return <HistoryPanel session={session} visible tools={null} onShowIn={() => undefined} record={null} />
  if (!split) return <TabbedPanels task={task} session={session} open={open} hasChat />
  return (
    <SplitView
      label={taskTexts.panels.divider}
      position={position}
      initial={splitPosition.initial}
      onMove={setPosition}
      left={<ChatPanel task={task} open={open} headed tools={null} />}
      right={
        <section className="flex flex-col bg-panel">
          <TabbedPanels task={task} session={session} open={open} hasChat={false} />
        </section>
      }
    />
  )
}

const besideChat = ['terminal', 'changes', 'history'] as const satisfies readonly Panel[]

interface TabbedPanelsProps extends PanelsProps {
  readonly task: Task
  readonly hasChat: boolean
}

function TabbedPanels({ task, session, open, hasChat }: TabbedPanelsProps) {
  const { panels } = taskTexts
  const [chosen, setChosen] = useState<Panel>(hasChat ? 'chat' : 'terminal')
  const [tools, setTools] = useState<HTMLElement | null>(null)
  const names: readonly Panel[] = hasChat ? ['chat', ...besideChat] : besideChat
  const panelOf: Readonly<Record<Panel, ReactNode>> = {
    chat: <ChatPanel task={task} open={open} headed={false} tools={tools} />,
    terminal: (
      <TerminalPanel
        terminal={open.terminal}
        reload={open.reload}
        running={task.status === 'running'}
        visible={chosen === 'terminal'}
        tools={tools}
      />
    ),
    changes: (
      <CodeChanges
        task={task}
        reload={open.reload}
        visible={chosen === 'changes'}
        tools={hasChat ? null : tools}
      />
    ),
    history: (
      <HistoryPanel
        session={session}
        visible={chosen === 'history'}
        tools={hasChat ? null : tools}
        onShowIn={setChosen}
        record={null}
      />
    ),
  }
  return (
    <>
      <div className="flex h-10 flex-none items-center border-b border-line bg-panel pr-1">
        <Tabs
          id="replay"
          label={panels.label}
          tabs={names.map((name) => ({ name, label: panels[name] }))}
          chosen={chosen}
          onChoose={setChosen}
          className={classes(scrollingTabs, 'px-4')}
        />
        <div ref={setTools} className="flex-none" />
      </div>
      {names.map((name) => (
        <div
          key={name}
          {...tabPanelProps('replay', name)}
          className={classes('min-h-0 flex-1 flex-col', chosen === name ? 'flex' : 'hidden')}
        >
          {chosen === name && panelOf[name]}
        </div>
      ))}
    </>
  )
}
