/** A person's shell in the sandbox of a task. */
import { fact } from '../kernel/event.schema.ts'
import { ExecutionId } from '../kernel/ids.schema.ts'

/** A person opened a shell. The task's terminal has its output and why it ended, under `shellId` as the execution's id. */
export const ShellOpened = fact('ShellOpened', { shellId: ExecutionId })
