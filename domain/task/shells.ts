/** Shells of people: why they end, and the limits of their time and size. This file imports nothing, so that web pages can use it. */

export const shellEnds = [
  'exited',
  'closed',
  'idle',
  'too_long',
  'output_limit',
  'sandbox_ended',
  'stopped',
] as const
export type ShellEnd = (typeof shellEnds)[number]

/** A shell ends after this time without input. */
export const idleShellMs = 60 * 60_000
/** A shell ends after this time, even if it is in use. */
export const longestShellMs = 8 * 60 * 60_000

/** The least and most rows, and columns, of a shell's terminal. */
export const terminalSides = { least: 2, most: 500 } as const

const allowed = (side: number) => Math.min(terminalSides.most, Math.max(terminalSides.least, side))

/** The size nearest to this one that the terminal of a shell can have. */
export function allowedSize({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return { rows: allowed(rows), columns: allowed(columns) }
}

/** Why a shell ended, in a sentence. */
export const shellEndSentences: Readonly<Record<ShellEnd, string>> = {
  exited: 'The shell has exited.',
  closed: 'The shell was closed.',
  idle: 'The shell was closed after an hour without input.',
  too_long: 'The shell was closed after 8 hours.',
  output_limit: 'The shell was closed because it printed as much as may be recorded of it.',
  sandbox_ended: 'The shell ended with the sandbox that it was in.',
  stopped: 'The shell ended with the server that it was on.',
}
