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
  /** Shows a line, which the next one replaces. */
  readonly progress: (line: string) => void
}
