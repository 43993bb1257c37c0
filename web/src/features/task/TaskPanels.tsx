/** The panes of a task: chat beside terminal and changes, or all in tabs where there is no room beside. */
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

type Panel = 'chat' | 'terminal' | 'changes'

interface TaskPanelsProps {
  readonly task: Task
  readonly open: OpenTaskSync
}

export function TaskPanels({ task, open }: TaskPanelsProps) {
  const split = useMedia('(width >= 900px)')
  const [query] = useSearchParams()
  // Who is led to the changes finds them open.
  const toChanges = query.get('tab') === 'changes'
  const [chosen, setChosen] = useState<Panel>(toChanges ? 'changes' : 'chat')
  const [work, setWork] = useState<Exclude<Panel, 'chat'>>(toChanges ? 'changes' : 'terminal')
  // Where a panel puts its buttons: beside the tabs.
  const [tools, setTools] = useState<HTMLElement | null>(null)
  const [position, setPosition] = usePersisted(splitPosition)
  const choose = (panel: Panel) => {
    setChosen(panel)
    if (panel !== 'chat') setWork(panel)
  }

  const chat = <ChatPanel task={task} open={open} headed={split} tools={split ? null : tools} />
  const workPanels = (shown: Panel) => (
    <>
      <TabPanel name="terminal" shown={shown === 'terminal'}>
        <TerminalPictures task={task} />
        <TerminalPanel
          terminal={open.terminal}
          reload={open.reload}
          running={task.status === 'running'}
          shown={shown === 'terminal'}
          tools={split ? tools : null}
        />
      </TabPanel>
      <TabPanel name="changes" shown={shown === 'changes'}>
        <Suspense fallback={null}>
          <CodeChanges
            task={task}
            reload={open.reload}
            shown={shown === 'changes'}
            tools={split ? tools : null}
          />
        </Suspense>
      </TabPanel>
    </>
  )
  const tabs: readonly Tab<Exclude<Panel, 'chat'>>[] = [
    { name: 'terminal', label: texts.panels.terminal },
    { name: 'changes', label: texts.panels.changes, count: task.changes?.files || undefined },
  ]

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
            {workPanels(work)}
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
        {workPanels(chosen)}
      </div>
    </>
  )
}

/** A panel is made when it is first looked at, and then keeps its place and what is typed in it. */
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
