/** The actions available on this page: parts of the page offer them, keys and the palette run them. */
import {
  createContext,
  useContext,
  useLayoutEffect,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from 'react'
import { useStable, useWindowEvent } from '../ui/hooks.ts'
import type { ActionId } from './actions.ts'
import { isMac } from './keys.ts'
import { createActionRegistry, type ActionRegistry } from './registry.ts'

const ActionsContext = createContext<ActionRegistry | null>(null)

/** Provides the actions to its children, and runs them when their keys are pressed anywhere on the page. */
export function ActionsProvider({ children }: { readonly children: ReactNode }) {
  const [registry] = useState(() => createActionRegistry(isMac()))
  useWindowEvent('keydown', registry.onKeyDown)
  return <ActionsContext value={registry}>{children}</ActionsContext>
}

/** @throws Error outside of an `ActionsProvider`. */
export function useActions(): ActionRegistry {
  const registry = useContext(ActionsContext)
  if (registry === null) throw new Error('There is no ActionsProvider around this.')
  return registry
}

/** The actions currently available, kept up to date. */
export function useOffered(): readonly ActionId[] {
  const { subscribe, offered } = useActions()
  return useSyncExternalStore(subscribe, offered)
}

/** Offers an action while `enabled`. The action always runs the `run` of the latest render. */
export function useAction(id: ActionId, run: () => void, enabled = true): void {
  const { offer } = useActions()
  const latest = useStable(run)
  useLayoutEffect(() => (enabled ? offer(id, latest) : undefined), [offer, id, enabled, latest])
}
