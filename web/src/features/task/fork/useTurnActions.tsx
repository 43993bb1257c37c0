/** What can be done with a turn that is over: a new task from it, and undoing it. For the menu of a turn, here and in the history. */
import { GitFork, Undo2 } from 'lucide-react'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import type { AgentName } from '#domain/agents.ts'
import type { MenuItem } from '../../../ui/overlay/Menu.tsx'
import { texts } from './headerTexts.ts'

const ForkDialog = lazy(async () => ({ default: (await import('./ForkDialog.tsx')).ForkDialog }))
const UndoDialog = lazy(async () => ({ default: (await import('./UndoDialog.tsx')).UndoDialog }))

export interface FinishedTurn {
  readonly executionId: string
  readonly agent: AgentName
  readonly isUndone: boolean
}

/** The items of a menu, and the dialog that they open. `turn`: `null` where there is none that is over. */
export function useTurnActions(
  taskId: string,
  turn: FinishedTurn | null,
): { readonly items: readonly MenuItem[]; readonly dialog: ReactNode } {
  const [opened, setOpened] = useState<'fork' | 'undo' | null>(null)
  if (turn === null) return { items: [], dialog: null }
  const { executionId, agent, isUndone } = turn
  const close = () => setOpened(null)
  const items: readonly MenuItem[] = [
    { label: texts.fork, icon: GitFork, onChoose: () => setOpened('fork') },
    ...(isUndone ? [] : [{ label: texts.undo, icon: Undo2, onChoose: () => setOpened('undo') }]),
  ]
  const of = { taskId, executionId, onClose: close }
  return {
    items,
    dialog: opened !== null && (
      <Suspense fallback={null}>
        {opened === 'fork' ? <ForkDialog {...of} agent={agent} /> : <UndoDialog {...of} />}
      </Suspense>
    ),
  }
}
