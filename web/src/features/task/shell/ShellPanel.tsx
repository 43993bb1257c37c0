/** A person's shell in the task's sandbox; in a replay, the output of the latest shell at the shown moment. */
import { useEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from 'react'
import { useSelector } from 'react-redux'
import { useSearchParams } from 'react-router-dom'
import type { TerminalOutput } from '#domain/api/chat.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { selectLive } from '../../../live/connection.ts'
import { useLive } from '../../../live/LiveContext.tsx'
import { Button } from '../../../ui/form/Button.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { useReplayed } from '../replayContext.ts'
import type { OpenTaskSync } from '../useTaskSync.ts'
import { openShellScreen, type ShellScreen } from './shellScreen.ts'
import { shellSession, type ShellState } from './shellSession.ts'
import { texts } from './texts.ts'

interface ShellPanelProps {
  readonly task: Task
  readonly open: Pick<OpenTaskSync, 'terminal'>
}

const nothing: readonly TerminalOutput[] = []
/** Where the focus may be when an opened shell takes it: nowhere, on the page that was just opened, on the shell's tab, or in its panel. */
const focusGivers = 'body, #main, #task-tab-shell, #task-panel-shell *'

export function ShellPanel({ task, open: { terminal } }: ShellPanelProps) {
  const output = useSyncExternalStore(terminal.subscribe, () => terminal.read().shell ?? nothing)
  const isReplayed = useReplayed() !== null
  // While a replay is being loaded, its address already names the moment.
  const isAwaited = useSearchParams()[0].has('at')
  if (isReplayed) return <ReplayedShell output={output} />
  return isAwaited ? <ReplayedShell output={nothing} /> : <LiveShell taskId={task.id} output={output} />
}

function ReplayedShell({ output }: { readonly output: readonly TerminalOutput[] }) {
  const shellId = output.at(-1)?.executionId ?? ''
  const shown = useMemo(() => output.filter(({ executionId }) => executionId === shellId), [output, shellId])
  if (shown.length === 0) return <Empty title={texts.none}>{texts.noneWhy}</Empty>
  return <Screen output={shown} />
}

function LiveShell({
  taskId,
  output,
}: {
  readonly taskId: string
  readonly output: readonly TerminalOutput[]
}) {
  const live = useLive()
  const isLive = useSelector(selectLive)
  const [session] = useState(() => shellSession(taskId, live))
  const state = useSyncExternalStore(session.subscribe, session.read)
  const shellId = state.kind === 'open' ? state.shellId : ''
  const shown = useMemo(() => output.filter(({ executionId }) => executionId === shellId), [output, shellId])
  const hasEnded = shown.at(-1)?.shell?.ended !== undefined
  const isOver = useRef(hasEnded)
  useEffect(() => {
    isOver.current = hasEnded
  })
  // A new connection joins the shell again, but opens no new shell after this one has ended.
  useEffect(() => session.follow(() => !isOver.current), [session])
  const screen = useRef<ShellScreen | null>(null)
  const isOpen = state.kind === 'open' && !hasEnded
  useEffect(() => {
    // After a reconnection the person may be writing elsewhere, and those keys must not reach the shell.
    if (isOpen && isLive && document.activeElement?.matches(focusGivers)) screen.current?.focus()
  }, [isOpen, isLive])
  if (state.kind === 'refused')
    return (
      <Empty
        title={texts.notOpened}
        action={<Button onClick={() => void session.open()}>{texts.tryAgain}</Button>}
      >
        {state.reason}
      </Empty>
    )
  return (
    <>
      <div className="flex min-h-9 flex-none flex-wrap items-center gap-x-3 border-b border-line-soft px-3 py-1 text-meta text-muted">
        <span role="status" className="font-medium text-text">
          {!isLive ? texts.offline : statusOf(state, hasEnded)}
        </span>
        {isOpen && <span className="min-w-0 flex-1">{noteOf(state)}</span>}
        {isOpen ? (
          <>
            <span className="max-md:hidden">{texts.leave}</span>
            <Button size="small" onClick={() => session.close()}>
              {texts.close}
            </Button>
          </>
        ) : (
          state.kind !== 'connecting' && (
            <Button size="small" disabled={!isLive} onClick={() => void session.open()}>
              {texts.again}
            </Button>
          )
        )}
      </div>
      <Screen
        output={shown}
        onScreen={(opened) => (screen.current = opened)}
        onInput={session.type}
        onSize={session.resize}
      />
    </>
  )
}

function noteOf({ isFull, isShared }: Extract<ShellState, { kind: 'open' }>): ReactNode {
  if (isFull) return <span role="alert">{texts.tooMuch}</span>
  return isShared ? texts.shared : texts.apart
}

function statusOf(state: ShellState, hasEnded: boolean): ReactNode {
  if (state.kind === 'connecting') return texts.connecting
  if (state.kind === 'gone') return state.reason
  return hasEnded ? texts.ended : texts.open
}

interface ScreenProps {
  readonly output: readonly TerminalOutput[]
  readonly onScreen?: (screen: ShellScreen | null) => void
  readonly onInput?: (text: string) => void
  readonly onSize?: (size: { readonly rows: number; readonly columns: number }) => void
}

function Screen({ output, onScreen, onInput, onSize }: ScreenProps) {
  const element = useRef<HTMLDivElement>(null)
  const screen = useRef<ShellScreen | null>(null)
  const given = useRef({ onScreen, onInput, onSize })
  useEffect(() => {
    given.current = { onScreen, onInput, onSize }
  })
  const isReplay = onInput === undefined
  useEffect(() => {
    const box = element.current
    if (box === null) return undefined
    const opened = openShellScreen(box, {
      onInput: isReplay ? null : (text) => given.current.onInput?.(text),
      onLeave: () => document.querySelector<HTMLElement>('#task-tab-shell')?.focus(),
    })
    screen.current = opened
    // The page's own shortcuts do not apply to what is typed here.
    const keep = (event: KeyboardEvent) => event.stopPropagation()
    box.addEventListener('keydown', keep)
    given.current.onScreen?.(opened)
    let last = ''
    const observer = new ResizeObserver(() => {
      if (box.clientHeight === 0) return
      const size = opened.fit()
      if (last !== `${size.rows} ${size.columns}`) given.current.onSize?.(size)
      last = `${size.rows} ${size.columns}`
    })
    observer.observe(box)
    return () => {
      observer.disconnect()
      box.removeEventListener('keydown', keep)
      given.current.onScreen?.(null)
      screen.current = null
      opened.close()
    }
  }, [isReplay])
  useEffect(() => {
    screen.current?.show(output)
  }, [output])
  return (
    <div ref={element} role="group" aria-label={texts.label} className="min-h-0 flex-1 overflow-hidden p-2" />
  )
}
