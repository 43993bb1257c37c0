/** Works on many items without letting a failing one stop the others. */
import type { Logger } from '../log.ts'
import { EngineUnavailable } from '../ports/faults.ts'

/**
 * Works on the items one after the other. A failure is logged with the item's name, and the next item follows. Throws when an engine, such as the
 * database, is unavailable, because then all items would fail.
 */
export async function eachAlone<T>(
  all: Iterable<T> | AsyncIterable<T>,
  work: (one: T) => Promise<unknown>,
  failed: { readonly logger: Pick<Logger, 'warn'>; readonly what: string; name(one: T): object },
): Promise<void> {
  for await (const one of all)
    try {
      await work(one)
    } catch (fault) {
      if (fault instanceof EngineUnavailable) throw fault
      failed.logger.warn({ err: fault, ...failed.name(one) }, failed.what)
    }
}
