/** The panels of a task: the chat beside the terminal and the changes, or all three in tabs on a narrow screen. */
import { lazy, Suspense, useState, type ReactNode } from 'react'
import { useSearchParams } from 'react-router-dom'
import type { Task } from '#domain/api/tasks.schema.ts'
import { splitPosition, usePersisted } from '../../state/persisted.ts'
import { classes } from '../../ui/classes.ts'
import { SplitView } from '../../ui/layout/SplitView.tsx'
import { tabPanelProps, Tabs, type Tab } from '../../ui/layout/Tabs.tsx'
import { useMedia } from '../../ui/hooks.ts'
import { ChatPanel } from './chat/ChatPanel.tsx'
import { TerminalPictures } from './terminal/TerminalPictures.tsx'
import { TerminalPanel } from './terminal/TerminalPanel.tsx'
import { texts } from './texts.ts'
import type { OpenTaskSync } from './useTaskSync.ts'

const CodeChanges = lazy(async () => ({ default: (await import('./changes/CodeChanges.tsx')).CodeChanges }))

type WorkPanel = 'terminal' | 'changes'
type Panel = 'chat' | WorkPanel

interface TaskPanelsProps {
  readonly task: Task
  readonly open: OpenTaskSync
}

export function TaskPanels({ task, open }: TaskPanelsProps) {
  const split = useMedia('(width >= 900px)')
  const [query] = useSearchParams()
  // A link to the changes opens them.
  const toChanges = query.get('tab') === 'changes'
  const [chosen, setChosen] = useState<Panel>(toChanges ? 'changes' : 'chat')
  const [work, setWork] = useState<WorkPanel>(toChanges ? 'changes' : 'terminal')
  // Beside the tabs, for the buttons of the panel that is shown.
  const [tools, setTools] = useState<HTMLElement | null>(null)
  const [position, setPosition] = usePersisted(splitPosition)
  const choose = (panel: Panel) => {
    setChosen(panel)
    if (panel !== 'chat') setWork(panel)
  }
  const chat = <ChatPanel task={task} open={open} headed={split} tools={split ? null : tools} />
  const tabs = workTabs(task)

  if (split) {
    return (
      <SplitView
        label={texts.panels.divider}
        position={position}
        initial={splitPosition.initial}
        onMove={setPosition}
        left={chat}
        right={
          <section className="flex flex-col bg-panel">
            <div className="flex h-10 flex-none items-center border-b border-line pr-1">
              <Tabs
                id="task"
                label={texts.panels.label}
                tabs={tabs}
                chosen={work}
                onChoose={choose}
                className="h-10 min-w-0 flex-1 px-4"
              />
              <div ref={setTools} className="flex-none" />
            </div>
            <WorkPanels task={task} open={open} shown={work} tools={tools} />
          </section>
        }
      />
    )
  }
  return (
    <>
      <div className="flex h-11 flex-none items-center border-b border-line bg-panel pr-1">
        <Tabs
          id="task"
          label={texts.panels.label}
          tabs={[{ name: 'chat', label: texts.panels.chat }, ...tabs]}
          chosen={chosen}
          onChoose={choose}
          className="h-full min-w-0 flex-1 px-3 *:h-full md:px-4"
        />
        <div ref={setTools} className={classes('flex-none', chosen !== 'chat' && 'hidden')} />
      </div>
      <TabPanel name="chat" shown={chosen === 'chat'}>
        {chat}
      </TabPanel>
      <div className={classes('min-h-0 flex-1 flex-col bg-panel', chosen === 'chat' ? 'hidden' : 'flex')}>
        <WorkPanels task={task} open={open} shown={chosen} tools={null} />
      </div>
    </>
  )
}

function workTabs({ changes }: Task): readonly Tab<WorkPanel>[] {
  return [
    { name: 'terminal', label: texts.panels.terminal },
    { name: 'changes', label: texts.panels.changes, count: changes?.files || undefined },
  ]
}

interface WorkPanelsProps extends TaskPanelsProps {
  readonly shown: Panel
  /** Where their buttons go; `null`: each panel has them itself. */
  readonly tools: HTMLElement | null
}

/** What the agent did: the terminal and the changes. */
function WorkPanels({ task, open, shown, tools }: WorkPanelsProps) {
  return (
    <>
      <TabPanel name="terminal" shown={shown === 'terminal'}>
        <TerminalPictures task={task} />
        <TerminalPanel
          terminal={open.terminal}
          reload={open.reload}
          running={task.status === 'running'}
          shown={shown === 'terminal'}
          tools={tools}
        />
      </TabPanel>
      <TabPanel name="changes" shown={shown === 'changes'}>
        <Suspense fallback={null}>
          <CodeChanges task={task} reload={open.reload} shown={shown === 'changes'} tools={tools} />
        </Suspense>
      </TabPanel>
    </>
  )
}

/** Mounts its panel when it is first shown, and keeps it mounted: the panel keeps its place and what is typed in it. */
function TabPanel({
  name,
  shown,
  children,
}: {
  readonly name: Panel
  readonly shown: boolean
  readonly children: ReactNode
}) {
  const [visited, setVisited] = useState(shown)
  if (shown && !visited) setVisited(true)
  return (
    <div
      {...tabPanelProps('task', name)}
      className={classes('min-h-0 flex-1 flex-col', shown ? 'flex' : 'hidden')}
    >
      {visited && children}
    </div>
  )
}
