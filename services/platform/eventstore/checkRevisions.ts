import type { EventToAppend, ExpectedRevision } from '../ports/eventStore.ts'

/** A stream with a gap or a stray event can never be mended, so the caller's arithmetic is checked here. Throws `RangeError`. */
export function checkRevisions(
  stream: string,
  expected: ExpectedRevision,
  events: readonly EventToAppend[],
): void {
  for (const [index, event] of events.entries()) {
    if (event.stream !== stream || event.revision !== expected + 1 + index) {
      throw new RangeError(
        `Event ${index} is ${event.stream} @ ${event.revision}; it must be ${stream} @ ${expected + 1 + index}.`,
      )
    }
  }
}
