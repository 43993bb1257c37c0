/** What waits to be told, until it is too much. */

export interface Backlog<T> {
  /** What one event adds. Nothing is kept any more once it is too much. */
  add(items: readonly T[], characters: number): void
  /** In the order they came; `null` when they are too much, together with so many events and characters that go before them. */
  items(events?: number, characters?: number): readonly T[] | null
}

export function backlog<T>(atMost: { readonly events: number; readonly characters: number }): Backlog<T> {
  let kept: T[] = []
  let events = 0
  let characters = 0
  const isTooMuch = (moreEvents: number, moreCharacters: number) =>
    events + moreEvents > atMost.events || characters + moreCharacters > atMost.characters

  return {
    add(items, itsCharacters) {
      events += 1
      characters += itsCharacters
      if (isTooMuch(0, 0)) kept = []
      else kept.push(...items)
    },
    items: (eventsBefore = 0, charactersBefore = 0) =>
      isTooMuch(eventsBefore, charactersBefore) ? null : kept,
  }
}
