/** Finds the agents' CLIs on this machine, and shows them in a sandbox. */
import { execFile } from 'node:child_process'
import { access, constants, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { AgentConfiguration } from '#domain/agents/agent.ts'
import type { Bind } from '../sandbox/port.ts'

export interface Found {
  readonly found: true
  readonly path: string
  readonly version: string
  /** What a sandbox must show for it to run: the file itself, or the folder that it lies in with its parts. */
  readonly shown: string
}

export type Located =
  | Found
  /** `reason` is a sentence that says what to do. */
  | { readonly found: false; readonly reason: string }

export interface WhereToLook {
  /** The path that the agent's variable names: when given, nothing else is tried. */
  readonly configured: string | undefined
  /** The value of `PATH`. */
  readonly path: string
  /** The operator's own home; some installers put a program there and not on the path. */
  readonly home?: string | undefined
  /** How long a CLI may take to say its version, in milliseconds; 15 s by default. */
  readonly timeoutMs?: number
}

/** As `process` tells it. */
export interface Machine {
  readonly platform: string
  readonly arch: string
}

/** An agent's program: as configured, else the first on the path or `elsewhere`. `notInstalled` is the sentence for when there is none. */
export async function locateProgram(
  { program, variables }: Pick<AgentConfiguration, 'program' | 'variables'>,
  where: WhereToLook,
  elsewhere: readonly string[],
  notInstalled: string,
): Promise<Located> {
  const { configured, path } = where
  if (configured === undefined)
    return (
      (await firstOf([...onPath(program, path), ...elsewhere], where)) ?? {
        found: false,
        reason: notInstalled,
      }
    )
  const reason = `${variables.program} names ${configured}, which is no program that can be run.`
  return (await firstOf([configured], where)) ?? { found: false, reason }
}

/** Shows all of the folder if a part of the program lies in it; a program that stands alone is shown alone. */
export async function withParts(found: Found, folder: string, part: string): Promise<Found> {
  return access(join(folder, part)).then(
    () => ({ ...found, shown: folder }),
    () => found,
  )
}

function onPath(name: string, path: string): readonly string[] {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
}

/** The first that is a program and says its version. */
async function firstOf(candidates: readonly string[], where: WhereToLook): Promise<Found | undefined> {
  for (const candidate of candidates) {
    try {
      await access(candidate, constants.X_OK)
      const path = await realpath(candidate)
      return { found: true, path, version: await versionOf(path, where), shown: path }
    } catch {
      // Not there, not a program, or one that does not start: the next may be better.
    }
  }
  return undefined
}

const run = promisify(execFile)

async function versionOf(binary: string, { path, timeoutMs = 15_000 }: WhereToLook): Promise<string> {
  // An empty home, so that asking does not touch the program's own state.
  const home = await mkdtemp(join(tmpdir(), 'flightdeck-home-'))
  try {
    const { stdout } = await run(binary, ['--version'], {
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: 64 * 1024,
      env: { PATH: path, HOME: home, DISABLE_AUTOUPDATER: '1' },
    })
    const version = /\d[\w.+-]*/.exec(stdout)?.[0]
    if (version === undefined) throw new Error('It does not say its version.')
    return version
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

const folderInSandbox = '/opt/agent'

/** Binds the program alone, or with the files beside it: the agent sees nothing else of the host. */
export function programBind({ path, shown }: Found): Bind {
  return { source: shown, target: shown === path ? `${folderInSandbox}/agent` : folderInSandbox }
}

/** The program's path in the sandbox, which has its bind at `seen`. */
export function programIn({ path, shown }: Found, seen: string): string {
  return shown === path ? seen : join(seen, relative(shown, path))
}
