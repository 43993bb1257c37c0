/** A person's shell in the sandbox of a task. */
import { fact } from '../kernel/event.schema.ts'
import { ExecutionId } from '../kernel/ids.schema.ts'

/** A person opened a shell. Its output, and why it ended, are in the task's terminal under its id, which stands for that of an execution. */
export const ShellOpened = fact('ShellOpened', { shellId: ExecutionId })
