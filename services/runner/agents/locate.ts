/** Finds the agents' CLIs on this machine. */
import { execFile } from 'node:child_process'
import { access, constants, mkdtemp, realpath, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

export interface Found {
  readonly found: true
  readonly path: string
  readonly version: string
  /** What a box must show for it to run: the file itself, or the folder that it lies in with its parts. */
  readonly shown: string
}

export type Located =
  | Found
  /** `reason` is a sentence that says what to do. */
  | { readonly found: false; readonly reason: string }

export interface WhereToLook {
  /** `CLAUDE_BIN` or `CURSOR_BIN`: when given, nothing else is tried. */
  readonly configured: string | undefined
  /** The value of `PATH`. */
  readonly path: string
  /** The operator's own home; some installers put a program there and not on the path. */
  readonly home?: string | undefined
  /** How long a CLI may take to say its version, in milliseconds; 15 s by default. */
  readonly timeoutMs?: number
}

/** `claude`: as configured, else on the path, else as installed with this program. The path is the file's own, without links. */
export async function locateClaude(where: WhereToLook, machine: Machine = thisMachine()): Promise<Located> {
  if (where.configured !== undefined) return tried(where.configured, 'CLAUDE_BIN', where)
  const candidates = [...onPath('claude', where.path), ...installed(machine)]
  return (
    (await firstOf(candidates, where)) ?? {
      found: false,
      reason: `The claude CLI is not installed. Run npm install, or set CLAUDE_BIN to its path.`,
    }
  )
}

/** `cursor-agent`: as configured, else on the path, else where its installer puts it in the operator's home. */
export async function locateCursor(where: WhereToLook): Promise<Located> {
  const located =
    where.configured === undefined
      ? await firstOf([...onPath(cursorProgram, where.path), ...inHome(cursorProgram, where.home)], where)
      : await tried(where.configured, 'CURSOR_BIN', where)
  if (!located) return { found: false, reason: cursorMissing }
  if (!located.found) return located
  // It is a script that starts what lies beside it; one that stands alone is shown alone.
  const folder = dirname(located.path)
  return (await isThere(join(folder, 'index.js'))) ? { ...located, shown: folder } : located
}

const cursorProgram = 'cursor-agent'
const cursorMissing =
  "The cursor-agent CLI is not installed: get it with Cursor's own installer, or set CURSOR_BIN to the path of the program."

export interface Machine {
  readonly platform: string
  readonly arch: string
  /** The C library is musl, as on Alpine. */
  readonly musl: boolean
}

/** The machine that this runs on. */
export function thisMachine(): Machine {
  const report: unknown = process.report?.getReport()
  const header =
    typeof report === 'object' && report !== null && 'header' in report ? report.header : undefined
  const glibc = typeof header === 'object' && header !== null && 'glibcVersionRuntime' in header
  return { platform: process.platform, arch: process.arch, musl: process.platform === 'linux' && !glibc }
}

async function tried(configured: string, variable: string, where: WhereToLook): Promise<Located> {
  const located = await firstOf([configured], where)
  return (
    located ?? {
      found: false,
      reason: `${variable} names ${configured}, which is no program that can be run.`,
    }
  )
}

function onPath(name: string, path: string): readonly string[] {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
}

function inHome(name: string, home: string | undefined): readonly string[] {
  return home === undefined || home === '' ? [] : [join(home, '.local/bin', name)]
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** The platform package holds the program itself; it is there without any install script having run. */
function installed({ platform, arch, musl }: Machine): readonly string[] {
  const name = `@anthropic-ai/claude-code-${platform}-${arch}${musl ? '-musl' : ''}`
  try {
    return [createRequire(import.meta.url).resolve(`${name}/claude`)]
  } catch {
    return []
  }
}

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
  // An empty home: the program's own state must not be touched by asking.
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
