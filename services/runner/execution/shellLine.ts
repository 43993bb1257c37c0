/** Makes the command that runs a line of shell. */

/**
 * The program that runs a line of shell. The line may contain a password, so it is not passed as an argument. It is passed in the environment, which
 * only the user of the program can read.
 */
export function shellLine(line: string): {
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
} {
  return { command: ['/bin/bash', '-c', evalLine], env: { FLIGHTDECK_COMMAND: line } }
}

/** Clears the variable and the arguments first. The line then runs as if it were given to `bash -c` itself. */
const evalLine = 'set -- "$FLIGHTDECK_COMMAND"; unset FLIGHTDECK_COMMAND; eval "set --;$1"'
