import type { EventToAppend, ExpectedRevision } from '../ports/eventStore.ts'

/** A gap or a stray event in a stream could never be repaired, so the caller's revisions are checked here. Throws `RangeError`. */
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
