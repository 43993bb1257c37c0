/** A buffer that drops all its items once there are too many. */

export interface BoundedBuffer<T> {
  /** Adds the items of one event and the event's size in characters. When the limits are exceeded, all items are dropped. */
  add(items: readonly T[], characters: number): void
  /** The items in the order of arrival; `null` when they exceed the limits together with the given number of earlier events and characters. */
  items(events?: number, characters?: number): readonly T[] | null
}

export function boundedBuffer<T>(limits: {
  readonly events: number
  readonly characters: number
}): BoundedBuffer<T> {
  let kept: T[] = []
  let events = 0
  let characters = 0
  const isTooMuch = (moreEvents: number, moreCharacters: number) =>
    events + moreEvents > limits.events || characters + moreCharacters > limits.characters

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
