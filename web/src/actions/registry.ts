/** The actions that are available on the page now. */
import { actions, type ActionId } from './actions.ts'
import { strokesOf, takesText, writtenKey } from './keys.ts'
import { isComposingKey } from '../ui/isComposingKey.ts'

export interface ActionRegistry {
  /** Offers an action. If it is offered several times, the latest offer runs. Returns a function that withdraws the offer. */
  readonly offer: (id: ActionId, run: () => void) => () => void
  /** Runs an action. Returns `false` if no part of the page offers the action. */
  readonly run: (id: ActionId) => boolean
  /** The available actions, in list order; the same array until they change. */
  readonly offered: () => readonly ActionId[]
  /** Calls back whenever `offered` may have changed. Returns the unsubscribe function. */
  readonly subscribe: (changed: () => void) => () => void
  /** Runs the available action of a pressed key, unless the key is typed into a field or a modal dialog is open. */
  readonly onKeyDown: (event: KeyboardEvent) => void
}

/** How long after the first of two keys the second may be pressed, in milliseconds. */
const secondKeyMs = 1_500

export function createActionRegistry(mac: boolean): ActionRegistry {
  const offers = new Map<ActionId, (() => void)[]>()
  const watching = new Set<() => void>()
  let offered: readonly ActionId[] = []
  let pending: { readonly key: string; readonly at: number } | null = null

  const isOffered = (id: ActionId) => (offers.get(id)?.length ?? 0) > 0
  const change = (id: ActionId, now: (() => void)[]) => {
    const before = isOffered(id)
    offers.set(id, now)
    if (before === isOffered(id)) return
    offered = actions.map((action) => action.id).filter(isOffered)
    for (const changed of watching) changed()
  }
  const run = (id: ActionId) => {
    const doIt = offers.get(id)?.at(-1)
    doIt?.()
    return doIt !== undefined
  }
  const actionOf = (stroke: string) =>
    actions.find(({ id, keys }) => keys.some((key) => key === stroke) && isOffered(id))
  const beginsWith = (stroke: string) =>
    actions.some(
      ({ id, keys }) =>
        keys.some((key) => strokesOf(key).length > 1 && strokesOf(key)[0] === stroke) && isOffered(id),
    )

  return {
    offer: (id, doIt) => {
      change(id, [...(offers.get(id) ?? []), doIt])
      return () =>
        change(
          id,
          (offers.get(id) ?? []).filter((other) => other !== doIt),
        )
    },
    run,
    offered: () => offered,
    subscribe: (changed) => {
      watching.add(changed)
      return () => void watching.delete(changed)
    },
    onKeyDown: (event) => {
      // Some part of the page already handled the key, an input method uses it to compose a character, or it is only held down.
      if (event.defaultPrevented || isComposingKey(event) || event.repeat) return
      // A modifier alone is no shortcut.
      if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return
      const first = pending
      pending = null
      if (isCovered(event.target)) return
      const key = writtenKey(event, mac)
      // With Shift, or with Alt on some keyboards, a key still types a character.
      const isCharacter = event.key.length === 1 && !/^(mod|other)\+/.test(key)
      const isText = isCharacter || (!key.includes('+') && key !== 'escape')
      if (isText && takesText(event.target)) return
      const pair = first === null ? undefined : actionOf(`${first.key} ${key}`)
      const inTime = first !== null && event.timeStamp - first.at <= secondKeyMs
      const action = (inTime ? pair : undefined) ?? actionOf(key)
      if (action === undefined) {
        if (beginsWith(key)) pending = { key, at: event.timeStamp }
        return
      }
      event.preventDefault()
      run(action.id)
    },
  }
}

/** Whether a modal dialog covers the page: then only the dialog gets keys. */
function isCovered(target: EventTarget | null): boolean {
  if (!(target instanceof Node)) return false
  return (target.ownerDocument ?? document).querySelector('dialog[open]') !== null
}
