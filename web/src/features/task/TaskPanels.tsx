/** The panels of a task: the chat beside tabs for terminal, changes, files, shell and history. On a narrow screen, the chat is a tab too. */
import { Suspense, useState, type ReactNode } from 'react'
import { useSearchParams } from 'react-router-dom'
import type { Task } from '#domain/api/tasks.schema.ts'
import { usePersisted } from '../../state/usePersisted.ts'
import { splitPosition } from './splitPosition.ts'
import { classes } from '../../ui/classes.ts'
import { Button } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { SplitView } from '../../ui/layout/SplitView.tsx'
import { scrollingTabs, tabPanelProps, Tabs, type Tab } from '../../ui/layout/Tabs.tsx'
import { Spinner } from '../../ui/status/Loading.tsx'
import { useMedia } from '../../ui/hooks.ts'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { isRunning } from '../tasks/taskStatus.ts'
import { ChatPanel } from './chat/ChatPanel.tsx'
import { TerminalPictures } from './terminal/TerminalPictures.tsx'
import { TerminalPanel } from './terminal/TerminalPanel.tsx'
import { useReplayed } from './replayContext.ts'
import { texts } from './texts.ts'
import type { TaskHistory } from './useTaskHistory.ts'
import type { OpenTaskSync } from './useTaskSync.ts'

const CodeChanges = optionalPart(async () => (await import('./changes/CodeChanges.tsx')).CodeChanges)
const FilesPanel = optionalPart(async () => (await import('./files/FilesPanel.tsx')).FilesPanel)
const ShellPanel = optionalPart(async () => (await import('./shell/ShellPanel.tsx')).ShellPanel)

type WorkPanel = 'terminal' | 'changes' | 'files' | 'shell' | 'history'
type Panel = 'chat' | WorkPanel

interface TaskPanelsProps {
  readonly task: Task
  readonly open: OpenTaskSync
  readonly history: TaskHistory
}

export function TaskPanels({ task, open, history }: TaskPanelsProps) {
  const split = useMedia('(width >= 900px)')
  const [query] = useSearchParams()
  // A link that names the changes, a file or the history opens the panel for it.
  const linkedWork = query.has('file') ? 'files' : query.get('tab') === 'changes' ? 'changes' : null
  const linked = history.isLinked ? 'history' : linkedWork
  const [chosen, setChosen] = useState<Panel>(linked ?? 'chat')
  const [work, setWork] = useState<WorkPanel>(linked ?? 'terminal')
  // The element beside the tabs. The visible panel shows its buttons in it.
  const [tools, setTools] = useState<HTMLElement | null>(null)
  const [position, setPosition] = usePersisted(splitPosition)
  const choose = (panel: Panel) => {
    setChosen(panel)
    if (panel !== 'chat') setWork(panel)
    if (panel === 'history') history.load()
  }
  const visiblePanel = split ? work : chosen
  // Remembers the last used panel while two are side by side, because that panel is shown when the screen becomes narrow.
  const use = (panel: Panel) => split && setChosen(panel)
  const tabs = workTabs(task, useReplayed() !== null)

  // The elements are the same at all widths, so that drafts, their images and the focus survive resizing.
  return (
    <>
      {!split && (
        <div className="flex h-11 flex-none items-center border-b border-line bg-panel pr-1">
          <Tabs
            id="task"
            label={texts.panels.label}
            tabs={[{ name: 'chat', label: texts.panels.chat }, ...tabs]}
            chosen={chosen}
            onChoose={choose}
            className={classes(scrollingTabs, 'px-3 max-md:gap-3 md:px-4')}
          />
          <div ref={setTools} className={classes('flex-none', chosen !== 'chat' && 'hidden')} />
        </div>
      )}
      <SplitView
        label={texts.panels.divider}
        position={position}
        initial={splitPosition.initial}
        onMove={setPosition}
        split={split}
        left={
          <TabPanel
            name="chat"
            tabbed={!split}
            visible={split || chosen === 'chat'}
            onUse={() => use('chat')}
          >
            <ChatPanel task={task} open={open} headed={split} tools={split ? null : tools} />
          </TabPanel>
        }
        right={
          <section
            onFocus={() => use(work)}
            className={classes('flex-1 flex-col bg-panel', visiblePanel === 'chat' ? 'hidden' : 'flex')}
          >
            {split && (
              <div className="flex h-10 flex-none items-center border-b border-line pr-1">
                <Tabs
                  id="task"
                  label={texts.panels.label}
                  tabs={tabs}
                  chosen={work}
                  onChoose={choose}
                  className={classes(scrollingTabs, 'px-4')}
                />
                <div ref={setTools} className="flex-none" />
              </div>
            )}
            <WorkPanels
              task={task}
              open={open}
              history={history}
              panel={visiblePanel}
              tools={split ? tools : null}
              onShow={choose}
            />
          </section>
        }
      />
    </>
  )
}

function workTabs({ changes }: Task, isReplayed: boolean): readonly Tab<WorkPanel>[] {
  return [
    { name: 'terminal', label: texts.panels.terminal },
    { name: 'changes', label: texts.panels.changes, count: changes?.files || undefined },
    // Only the workspace's present files can be read, so a replay has no panel for them.
    ...(isReplayed ? [] : [{ name: 'files', label: texts.panels.files } as const]),
    { name: 'shell', label: texts.panels.shell },
    { name: 'history', label: texts.panels.history },
  ]
}

interface WorkPanelsProps extends TaskPanelsProps {
  readonly panel: Panel
  /** The element that gets the buttons of the panels; `null` when each panel shows its buttons in its own bar. */
  readonly tools: HTMLElement | null
  readonly onShow: (panel: Panel) => void
}

function WorkPanels({ task, open, history, panel, tools, onShow }: WorkPanelsProps) {
  const isReplayed = useReplayed() !== null
  return (
    <>
      <TabPanel name="terminal" visible={panel === 'terminal'}>
        <TerminalPictures task={task} />
        <TerminalPanel
          terminal={open.terminal}
          reload={open.reload}
          running={isRunning(task)}
          visible={panel === 'terminal'}
          tools={tools}
        />
      </TabPanel>
      <TabPanel name="changes" visible={panel === 'changes'}>
        <Loaded>
          {(props) => (
            <CodeChanges
              {...props}
              task={task}
              reload={open.reload}
              visible={panel === 'changes'}
              tools={tools}
            />
          )}
        </Loaded>
      </TabPanel>
      {/* The key unmounts a replayed shell, so that leaving the replay on another panel opens no shell. */}
      <TabPanel key={isReplayed ? 'replayed' : 'live'} name="shell" visible={panel === 'shell'}>
        <Loaded>{(props) => <ShellPanel {...props} task={task} open={open} />}</Loaded>
      </TabPanel>
      {!isReplayed && (
        <TabPanel name="files" visible={panel === 'files'}>
          <Loaded>
            {(props) => <FilesPanel {...props} task={task} visible={panel === 'files'} tools={tools} />}
          </Loaded>
        </TabPanel>
      )}
      <TabPanel name="history" visible={panel === 'history'}>
        <History history={history} visible={panel === 'history'} tools={tools} onShow={onShow} />
      </TabPanel>
    </>
  )
}

function History({
  history: { open, isMissing, load },
  visible,
  tools,
  onShow,
}: Pick<WorkPanelsProps, 'history' | 'tools' | 'onShow'> & { readonly visible: boolean }) {
  const retry = useRetry(load)
  if (isMissing) return <NotLoaded {...retry} />
  if (open === null)
    return (
      <p role="status" className="flex items-center gap-2 p-4 text-muted">
        <Spinner />
        {texts.panels.loadingHistory}
      </p>
    )
  return <open.parts.Panel session={open.session} visible={visible} tools={tools} onShowIn={onShow} />
}

interface LoadedProps {
  /** Renders the panel, which gets the props. */
  readonly children: (props: { readonly onMissing: () => void }) => ReactNode
}

/** A panel whose chunk is loaded when it is first shown, and again on demand if that fails. */
function Loaded({ children }: LoadedProps) {
  const [isMissing, setMissing] = useState(false)
  const retry = useRetry(() => setMissing(false))
  if (isMissing) return <NotLoaded {...retry} />
  return children({ onMissing: () => setMissing(true) })
}

interface NotLoadedProps {
  readonly isRetried: boolean
  readonly onRetry: () => void
}

/** Loads a panel again on demand, and tells whether that was tried before. */
function useRetry(load: () => void): NotLoadedProps {
  const [isRetried, setRetried] = useState(false)
  const onRetry = () => {
    setRetried(true)
    load()
  }
  return { isRetried, onRetry }
}

/** After a second failure it offers a reload, because some browsers remember a failed import and never try it again. */
function NotLoaded({ isRetried, onRetry }: NotLoadedProps) {
  return (
    <Empty
      title={texts.panels.notLoaded}
      action={
        <Button onClick={isRetried ? () => location.reload() : onRetry}>
          {isRetried ? texts.panels.reload : texts.tryAgain}
        </Button>
      }
    >
      {texts.panels.notLoadedWhy}
    </Empty>
  )
}

/** Mounts a panel when it is first shown and keeps it mounted, so that its scroll position and input survive. */
function TabPanel({
  name,
  visible,
  tabbed = true,
  onUse,
  children,
}: {
  readonly name: Panel
  readonly visible: boolean
  readonly tabbed?: boolean
  readonly onUse?: () => void
  readonly children: ReactNode
}) {
  const [visited, setVisited] = useState(visible)
  if (visible && !visited) setVisited(true)
  return (
    <div
      {...(tabbed && tabPanelProps('task', name))}
      onFocus={onUse}
      className={classes('min-h-0 flex-1 flex-col', visible ? 'flex' : 'hidden')}
    >
      {visited && <Suspense fallback={null}>{children}</Suspense>}
    </div>
  )
}
