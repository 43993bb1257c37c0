/** Work on many things of which one that fails holds up no other. */
import type { Logger } from '../log.ts'
import { EngineUnavailable } from '../ports/faults.ts'

/**
 * Works on each, one after the other. What fails for one is logged, with what names it, and the next one follows. Throws when an engine is
 * away: that would fail for all of them.
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
