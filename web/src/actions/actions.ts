/**
 * Everything that can be done by a key or from the palette, as data, in one list: the keys, the palette and the sheet of
 * shortcuts are made from it. Who can do it says so with `useAction`; an action that nobody on the page can do does nothing.
 *
 * Where two share a key, the first in the list that can be done is: so the order of those on Escape is the order in
 * which it closes things (an overlay takes Escape before any of them).
 */
export interface ActionFacts {
  readonly id: string
  /** What it does, as the palette says it. */
  readonly label: string
  readonly group: 'Everywhere' | 'Dashboard' | 'Task' | 'Chat' | 'Terminal' | 'Code Changes'
  /** Such as `mod+k` (Ctrl, on a Mac Cmd), `shift+?`, `n`: lower case, in the order mod, shift, alt, key. */
  readonly keys: readonly string[]
}

export const actions = [
  { id: 'palette', label: 'Search or run a command', group: 'Everywhere', keys: ['mod+k'] },
  { id: 'shortcuts', label: 'Show all shortcuts', group: 'Everywhere', keys: ['?'] },
] as const satisfies readonly ActionFacts[]

export type ActionId = (typeof actions)[number]['id']
