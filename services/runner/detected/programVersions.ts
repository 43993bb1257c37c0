/** Finds the versions of the programs that a sandbox has. */
import { CannotStart, run } from '#platform/childProcess.ts'
import type { AvailableSandbox } from '../deps.ts'
import type { CommandEnvironment } from '../sandbox/port.ts'
import { programs, type Program } from './wantedVersions.ts'

/** The version of each program: `null` for a program that is missing, and no entry for one whose version is unknown. */
export type ProgramVersions = ReadonlyMap<Program, string | null>

const questions: Readonly<Record<Program, readonly [string, string]>> = {
  node: ['node', '--version'],
  python: ['python3', '--version'],
  go: ['go', 'version'],
  rust: ['rustc', '--version'],
  java: ['java', '-version'],
}
const timeoutMs = 5_000

/**
 * Asks each program for its version once, when the versions are first needed. Only programs of this machine are asked: where sandboxes have a system
 * of their own, or cannot be made, the result is empty.
 */
export function openProgramVersions({
  sandbox,
}: {
  readonly sandbox: AvailableSandbox
}): () => Promise<ProgramVersions> {
  let asked: Promise<ProgramVersions> | undefined
  const found = 'missing' in sandbox ? undefined : sandbox.hostPrograms
  return () => (asked ??= found ? askAll(found) : Promise.resolve(new Map()))
}

async function askAll(found: CommandEnvironment): Promise<ProgramVersions> {
  const answers = await Promise.all(
    programs.map(async (program) => ({ program, version: await versionOf(program, found) })),
  )
  return new Map(
    answers.flatMap(({ program, version }) => (version === undefined ? [] : [[program, version]])),
  )
}

async function versionOf(program: Program, found: CommandEnvironment): Promise<string | null | undefined> {
  const [file, argument] = questions[program]
  try {
    const { code, stdout, stderr } = await run(file, [argument], {
      env: { ...found, HOME: '/nonexistent', GOTOOLCHAIN: 'local' },
      timeoutMs,
      maxOutputBytes: 64 * 1024,
    })
    // Java prints its version to stderr.
    return code === 0
      ? /\d+(?:\.\d+)*/.exec(`${stdout.toString('utf8')}${stderr.toString('utf8')}`)?.[0]
      : undefined
  } catch (fault) {
    if (fault instanceof CannotStart) return null
    throw fault
  }
}
