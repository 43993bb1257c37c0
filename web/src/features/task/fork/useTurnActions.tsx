/** What can be done with a turn that is over: a new task from it, and undoing it. For the menu of a turn, here and in the history. */
import { GitFork, Undo2 } from 'lucide-react'
import { type ComponentProps, lazy, Suspense, useState, type ReactNode } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { AgentName } from '#domain/agents.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { useAction } from '../../../actions/ActionsContext.tsx'
import type { MenuItem } from '../../../ui/overlay/Menu.tsx'
import { useReplayed } from '../replayed.ts'
import { selectOpenTask, taskLoaded } from '../taskSlice.ts'
import { texts } from './headerTexts.ts'

const TurnDialogs = lazy(async () => ({ default: (await import('./TurnDialogs.tsx')).TurnDialogs }))

export interface FinishedTurn {
  readonly executionId: string
  readonly agent: AgentName
  readonly isUndone: boolean
}

/** The items of a menu, and the dialog that they open. `turn`: `null` where there is none that is over. */
export function useTurnActions(turn: FinishedTurn | null): {
  readonly items: readonly MenuItem[]
  readonly dialog: ReactNode
} {
  const [opened, setOpened] = useState<'fork' | 'undo' | null>(null)
  // A replay shows what was: a new task may begin there, and nothing of this one is undone.
  const replayed = useReplayed()
  if (turn === null || replayed?.isSaved) return { items: [], dialog: null }
  const { executionId, agent, isUndone } = turn
  const items: readonly MenuItem[] = [
    { label: texts.fork, icon: GitFork, onChoose: () => setOpened('fork') },
    ...(isUndone || replayed ? [] : [{ label: texts.undo, icon: Undo2, onChoose: () => setOpened('undo') }]),
  ]
  const dialog = opened !== null && (
    <OfOpenTask shows={opened} executionId={executionId} agent={agent} onClose={() => setOpened(null)} />
  )
  return { items, dialog }
}

/** The same for the last turn, from the palette. `turn`: `null` while one runs. */
export function LastTurnActions({ turn }: { readonly turn: FinishedTurn | null }) {
  const { items, dialog } = useTurnActions(turn)
  const [fork, undo] = items
  useAction('forkTask', () => fork?.onChoose(), fork !== undefined)
  useAction('undoTurn', () => undo?.onChoose(), undo !== undefined)
  return dialog
}

/** Says that turns of the task were undone, and offers them back. */
export function UndoneTurns({ task }: { readonly task: Task }) {
  const isReplayed = useReplayed() !== null
  if (task.lastUndo === undefined || isReplayed) return null
  return (
    <OfOpenTask shows="undone" executionId={task.lastUndo.id} agent={task.agent} onClose={() => undefined} />
  )
}

/** What is loaded when it is needed, with the task that is open. */
function OfOpenTask(props: Omit<ComponentProps<typeof TurnDialogs>, 'task' | 'onUndone'>) {
  const dispatch = useDispatch()
  const { task } = useSelector(selectOpenTask)
  if (task === null) return null
  return (
    <Suspense fallback={null}>
      <TurnDialogs {...props} task={task} onUndone={(after) => dispatch(taskLoaded(after))} />
    </Suspense>
  )
}
