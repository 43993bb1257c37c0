/** Limits of runs and their sandboxes. */
import type { RunLimits } from '#platform/config/config.ts'
import type { SandboxLimits } from '../sandbox/port.ts'

const ofSandbox = {
  memoryBytes: 8 * 1024 ** 3,
  processes: 1_024,
  fileSizeBytes: 4 * 1024 ** 3,
}

/** The limits of a command's sandbox, which lives as long as the command. */
export function commandLimits({ longestMs }: Pick<RunLimits, 'longestMs'>): SandboxLimits {
  return { ...ofSandbox, wallMs: longestMs }
}

/**
 * The limits of an agent's sandbox, which may serve many turns. Each turn, and each wait for a person, has its own time limit, so that of the sandbox
 * is the longest that a timer can have.
 */
export const agentLimits: SandboxLimits = { ...ofSandbox, wallMs: 2_147_483_647 }

/** A time in words: `2 hours`, `15 minutes`, `3 seconds`. */
export function timeInWords(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const [count, unit] =
    seconds % 3_600 === 0
      ? [seconds / 3_600, 'hour']
      : seconds % 60 === 0
        ? [seconds / 60, 'minute']
        : [seconds, 'second']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
