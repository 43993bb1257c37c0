/** Shows the keys of an action as key caps, and makes the props of a button that runs the action. */
import { Fragment } from 'react'
import { KeyCap } from '../ui/text/KeyCap.tsx'
import { actions, type ActionId } from './actions.ts'
import { ariaKeys, isMac, keyCaps, strokesOf } from './keys.ts'

/** Renders keys such as `Ctrl K` or `G then D`. */
export function Keys({ keys }: { readonly keys: string }) {
  return (
    <span className="inline-flex items-center gap-1">
      {strokesOf(keys).map((stroke, index) => (
        // The same key may occur twice, so its index is part of the React key.
        <Fragment key={`${index}${stroke}`}>
          {index > 0 && <span className="text-meta text-muted">then</span>}
          <KeyCap>{keyCaps(stroke, isMac()).join(' ')}</KeyCap>
        </Fragment>
      ))}
    </span>
  )
}

/** The keys of an action; empty for an action without a key. */
export function keysOf(id: ActionId): readonly string[] {
  return actions.find((action) => action.id === id)?.keys ?? []
}

interface ShortcutProps {
  /** The keys as a tooltip shows them: `Ctrl K`. */
  readonly shortcut?: string
  readonly 'aria-keyshortcuts'?: string
}

/** Props for a button that runs an action: the action's keys, for the tooltip and for assistive technology. */
export function shortcutOf(id: ActionId, mac: boolean = isMac()): ShortcutProps {
  const [keys] = keysOf(id)
  if (keys === undefined) return {}
  const aria = ariaKeys(keys, mac)
  const shortcut = strokesOf(keys)
    .map((stroke) => keyCaps(stroke, mac).join(' '))
    .join(' then ')
  return { shortcut, ...(aria === undefined ? {} : { 'aria-keyshortcuts': aria }) }
}
