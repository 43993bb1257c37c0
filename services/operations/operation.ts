/** The arguments of an operator's command, and its result. */
import type { Config } from '#platform/config/config.ts'
import type { Logger } from '#platform/log.ts'

export interface OperationResult {
  readonly lines: readonly string[]
  readonly failed?: boolean
}

/** The services of an operation that opens the data folder itself. */
export interface OperationContext {
  readonly config: Config
  readonly logger: Logger
  /** Shows a line of progress in place of the previous one. */
  readonly progress: (line: string) => void
}
