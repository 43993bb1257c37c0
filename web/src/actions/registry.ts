/** Who can do what, on the page as it is now. */
import { actions, type ActionId } from './actions.ts'
import { takesText, writtenKey } from './keys.ts'

export interface ActionRegistry {
  /** Says that it can be done, and how. The latest to say so does it. Returns how to take it back. */
  readonly offer: (id: ActionId, run: () => void) => () => void
  /** Does it; whether anybody could. */
  readonly run: (id: ActionId) => boolean
  /** What can be done now, in the order of the list. */
  readonly offered: () => readonly ActionId[]
  /** Does what the key stands for, if it can be done and the key is not text. */
  readonly onKeyDown: (event: KeyboardEvent) => void
}

export function createActionRegistry(mac: boolean): ActionRegistry {
  const offers = new Map<ActionId, (() => void)[]>()
  const run = (id: ActionId) => {
    const doIt = offers.get(id)?.at(-1)
    doIt?.()
    return doIt !== undefined
  }
  return {
    offer: (id, doIt) => {
      offers.set(id, [...(offers.get(id) ?? []), doIt])
      return () => {
        offers.set(
          id,
          (offers.get(id) ?? []).filter((other) => other !== doIt),
        )
      }
    },
    run,
    offered: () => actions.map(({ id }) => id).filter((id) => (offers.get(id)?.length ?? 0) > 0),
    onKeyDown: (event) => {
      // A part of the page that took the key for itself has it; a composed character is no key.
      if (event.defaultPrevented || event.isComposing || event.repeat) return
      const written = writtenKey(event, mac)
      const isText = !written.includes('+') && written !== 'escape'
      if (isText && takesText(event.target)) return
      const meant = actions.find(
        ({ id, keys }) => keys.some((key) => key === written) && (offers.get(id)?.length ?? 0) > 0,
      )
      if (meant === undefined) return
      event.preventDefault()
      run(meant.id)
    },
  }
}
