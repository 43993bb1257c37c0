/** What an operator's command is given, and what it says in the end. */
import type { Config } from '#platform/config/config.ts'
import type { Logger } from '#platform/log.ts'

export interface Answer {
  readonly lines: readonly string[]
  readonly failed?: boolean
}

/** What an operation has that opens the data folder by itself. */
export interface OperationContext {
  readonly config: Config
  readonly logger: Logger
  /** Told of a line that the next one takes the place of. */
  readonly progress: (line: string) => void
}
