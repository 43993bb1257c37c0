/** Actions on a finished turn: creating a task from it, and undoing it. Used in the chat, the palette and the replay bar. */
import { GitFork, Undo2 } from 'lucide-react'
import { type ComponentProps, Suspense, useState } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { AgentName } from '#domain/agents.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { useAction } from '../../../actions/ActionsContext.tsx'
import { optionalPart } from '../../../ui/optionalPart.tsx'
import type { MenuItem } from '../../../ui/overlay/Menu.tsx'
import { useReplayed } from '../replayContext.ts'
import { selectOpenTask, taskLoaded } from '../taskSlice.ts'
import { texts } from './headerTexts.ts'

const TurnDialogs = optionalPart(async () => (await import('./TurnDialogs.tsx')).TurnDialogs)

export interface FinishedTurn {
  readonly executionId: string
  readonly agent: AgentName
  readonly isUndone: boolean
}

const noItems: readonly MenuItem[] = []

/** The menu items, and the dialog that they open. `turn` is `null` without a finished turn. */
export function useTurnActions(turn: FinishedTurn | null) {
  const [opened, setOpened] = useState<'fork' | 'undo' | null>(null)
  // A replay shows the past: a task can be created from it, but none of its turns can be undone.
  const replayed = useReplayed()
  if (turn === null || replayed?.isSaved) return { items: noItems, dialog: null }
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

/** Offers the actions of the last turn in the palette. `turn` is `null` when there is none to act on. */
export function LastTurnActions({ turn }: { readonly turn: FinishedTurn | null }) {
  const { items, dialog } = useTurnActions(turn)
  const [fork, undo] = items
  useAction('forkTask', () => fork?.onChoose(), fork !== undefined)
  useAction('undoTurn', () => undo?.onChoose(), undo !== undefined)
  return dialog
}

/** A note that turns were undone, with a button to restore them. */
export function UndoneTurns({ task }: { readonly task: Task }) {
  const isReplayed = useReplayed() !== null
  if (task.lastUndo === undefined || isReplayed) return null
  return (
    <OfOpenTask shows="undone" executionId={task.lastUndo.id} agent={task.agent} onClose={() => undefined} />
  )
}

/** The dialogs and notes about turns of the open task. Their code is loaded on demand. */
function OfOpenTask(props: Omit<ComponentProps<typeof TurnDialogs>, 'task' | 'onUndone'>) {
  const dispatch = useDispatch()
  const { task } = useSelector(selectOpenTask)
  if (task === null) return null
  return (
    <Suspense fallback={null}>
      <TurnDialogs
        {...props}
        task={task}
        onMissing={props.onClose}
        onUndone={(after) => dispatch(taskLoaded(after))}
      />
    </Suspense>
  )
}
