/** A line of shell, as a program that is started: it may hold a password, so it goes by the environment, which only its user can read. */
export function shellLine(line: string): {
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
} {
  return { command: ['/bin/bash', '-c', start], env: { FLIGHTDECK_COMMAND: line } }
}

/** The line finds neither the variable nor an argument, as if it had been given to `bash -c` itself. */
const start = 'set -- "$FLIGHTDECK_COMMAND"; unset FLIGHTDECK_COMMAND; eval "set --;$1"'
