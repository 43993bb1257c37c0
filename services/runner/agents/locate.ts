/** Finds the agents' CLIs on this machine, and binds them into sandboxes. */
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
  /** The path that a sandbox must show so that the program runs: the program itself, or its folder with the files that it needs. */
  readonly shown: string
}

export type Located =
  | Found
  /** `reason` is a sentence that says what to do. */
  | { readonly found: false; readonly reason: string }

export interface WhereToLook {
  /** The path in the agent's environment variable; if it is set, no other place is searched. */
  readonly configured: string | undefined
  /** The value of `PATH`. */
  readonly path: string
  /** The operator's own home, where some installers put a program without adding it to `PATH`. */
  readonly home?: string | undefined
  /** How long a CLI may take to print its version, in milliseconds; 60 s by default, since large CLIs start slowly on a busy machine. */
  readonly timeoutMs?: number
}

/** The operating system and the processor, as `process` names them. */
export interface Machine {
  readonly platform: string
  readonly arch: string
}

/**
 * Finds an agent's program: at the configured path or, if no path is configured, the first program found on `PATH` or in `elsewhere`. `notInstalled`
 * is the reason that is returned when no program is found there.
 */
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

/** If `part` exists in `folder`, the sandbox shows the whole folder; otherwise it shows only the program. */
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

/** The first candidate that is a program and prints its version; `undefined` when there is none. */
async function firstOf(candidates: readonly string[], where: WhereToLook): Promise<Found | undefined> {
  for (const candidate of candidates) {
    try {
      await access(candidate, constants.X_OK)
      const path = await realpath(candidate)
      return { found: true, path, version: await versionOf(path, where), shown: path }
    } catch {
      // The file is missing, is no program, or does not print its version: the next candidate is tried.
    }
  }
  return undefined
}

const run = promisify(execFile)

async function versionOf(binary: string, { path, timeoutMs = 60_000 }: WhereToLook): Promise<string> {
  // The program gets an empty home, so that asking for its version changes nothing in its real home.
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

/** The bind by which a sandbox shows the program alone, or its folder, and nothing else around it. */
export function programBind({ path, shown }: Found): Bind {
  return { source: shown, target: shown === path ? `${folderInSandbox}/agent` : folderInSandbox }
}

/** The path of the program in a sandbox in which the program, or its folder, is bound at `seen`. */
export function programIn({ path, shown }: Found, seen: string): string {
  return shown === path ? seen : join(seen, relative(shown, path))
}
