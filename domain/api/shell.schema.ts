/** A person's shell in the sandbox of a task, over the live connection. Its output comes as `terminal_output`. */
import { z } from 'zod'
import type { FaultCode } from '../kernel/errors.ts'
import { ExecutionId, TaskId } from '../kernel/ids.schema.ts'
import { terminalSides } from '../task/shells.ts'

const Side = z.int().min(terminalSides.least).max(terminalSides.most)
export const TerminalSize = z.strictObject({ rows: Side, columns: Side })
/** Input for a shell; longer input is sent in parts. */
export const ShellInput = z.string().min(1).max(8_192)

/** The arguments of `shell_open`, `shell_input`, `shell_resize` and `shell_close`. */
export const OpenShell = z.tuple([TaskId, TerminalSize])
export const WriteToShell = z.tuple([TaskId, ExecutionId, ShellInput])
export const ResizeShell = z.tuple([TaskId, ExecutionId, TerminalSize])
export const CloseShell = z.tuple([TaskId, ExecutionId])

/**
 * The answer to `shell_open`. A task has one shell at a time: if a shell is open, the person joins this shell. `shared` says whether the shell runs
 * in the agent's own sandbox.
 */
export type ShellOpening =
  | { readonly opened: true; readonly shellId: string; readonly shared: boolean }
  | { readonly opened: false; readonly error: string; readonly code: FaultCode }

/**
 * The answer to the other requests. `taken`: the shell has the request, and the client may send more input. `gone`: the person has no such shell, or
 * it did not take the request in time.
 */
export type ShellAnswer = 'taken' | 'gone' | 'invalid_input'
