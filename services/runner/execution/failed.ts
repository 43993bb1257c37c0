/** How an execution fails that never came to its work, or was kept from its end. */
import type { ExecutionOutcome } from '#domain/task/commands.ts'

export type Failed = Extract<ExecutionOutcome, { kind: 'failed' }>

export function failed(code: string, reason: string): Failed {
  return { kind: 'failed', code, reason, exitCode: null }
}
