/** What a box lacks, on the machine that it is made on, of what boxes promise. */
import type { AllowedShortcoming } from '#platform/config/config.ts'

export interface Shortcoming {
  /** By which an operator allows it in `ALLOW_WEAKER_BOX`; `null`: it is told, and stops nothing. */
  readonly name: AllowedShortcoming | null
  /** What is missing, why, and what would mend it: a sentence or two for the operator. */
  readonly says: string
}

/** Those for which no real model may run in such a box. */
export function notAllowed(
  shortcomings: readonly Shortcoming[],
  allowed: readonly AllowedShortcoming[],
): readonly AllowedShortcoming[] {
  return shortcomings.flatMap(({ name }) => (name === null || allowed.includes(name) ? [] : [name]))
}
