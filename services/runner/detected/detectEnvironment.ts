/** Finds out from a repository's files which environment it needs, and proposes settings. Nothing of the repository is run. */
import type { DetectedEnvironment } from '#domain/api/projectSettings.schema.ts'
import { settingsLimits } from '#domain/project/settings.ts'
import { splitNul } from '../workspace/changes/indexDifferences.ts'
import { endedWell, gitOrThrow, type Git } from '../workspace/git/git.ts'
import { noDevcontainer, readDevcontainer } from './devcontainer.ts'
import { lockFiles, packageManagersOf, type RepositoryFiles } from './packageManagers.ts'
import type { ProgramVersions } from './programVersions.ts'
import { versionFiles, versionNotes, wantedVersions } from './wantedVersions.ts'

/** The sandbox that the environment is for. */
export interface TargetSandbox {
  readonly isContainer: boolean
  readonly versions: ProgramVersions
}

/** Only the first of these files that exists is used, as in devcontainer tools. */
const devcontainerFiles = ['.devcontainer/devcontainer.json', '.devcontainer.json'] as const
const readFiles: ReadonlySet<string> = new Set([...devcontainerFiles, ...Object.keys(versionFiles)])
const allFiles = [...readFiles, ...lockFiles, 'requirements.txt', 'Gemfile']
const maxFileBytes = 256 * 1024

interface FoundFiles extends RepositoryFiles {
  /** Sentences about files that were not read. */
  readonly notes: readonly string[]
}

/** Detects the environment of a commit in one of our git directories. Throws `GitFault`. */
export async function environmentOf(
  git: Git,
  { gitDir, commit }: { readonly gitDir: string; readonly commit: string },
  sandbox: TargetSandbox,
): Promise<DetectedEnvironment> {
  return detectEnvironment(await filesOf(git, gitDir, commit), sandbox)
}

/** The entry in a line of `git ls-tree --long`; none when the line has another form. */
function entryOf(line: Buffer) {
  const [, mode, id, size, path] = /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line.toString('utf8')) ?? []
  return mode === undefined || id === undefined || path === undefined
    ? []
    : [{ mode, id, size: Number(size), path }]
}

async function filesOf(git: Git, gitDir: string, commit: string): Promise<FoundFiles> {
  const args = ['ls-tree', '-z', '--long', '--full-tree', commit, '--', ...allFiles]
  const listed = await gitOrThrow(git, { gitDir, args })
  const entries = splitNul(listed.stdout).whole.flatMap(entryOf)
  const plain = entries.filter(({ mode }) => mode.startsWith('100'))
  const small = plain.filter(({ path, size }) => readFiles.has(path) && size <= maxFileBytes)
  const read = await Promise.all(
    small.map(async ({ id, path }) => {
      const call = { gitDir, args: ['cat-file', 'blob', id], maxOutputBytes: maxFileBytes + 1 }
      const file = await git(call)
      return endedWell(file) ? [[path, file.stdout.toString('utf8')] as const] : []
    }),
  )
  const large = plain.filter(({ path, size }) => readFiles.has(path) && size > maxFileBytes)
  const links = entries.filter(({ mode }) => !mode.startsWith('100') && mode !== '040000')
  return {
    paths: new Set(plain.map(({ path }) => path)),
    texts: new Map(read.flat()),
    notes: [
      ...large.map(({ path }) => `${path} is larger than 256 KiB and is not read.`),
      ...links.map(({ path }) => `${path} is not a plain file and is not read.`),
    ],
  }
}

/** The environment of a repository without commits. */
export const nothingDetected: DetectedEnvironment = {
  found: [],
  setupCommand: '',
  hosts: [],
  variables: [],
  ports: [],
  notes: [],
}

export function detectEnvironment(files: FoundFiles, sandbox: TargetSandbox): DetectedEnvironment {
  const file = devcontainerFiles.find((path) => files.paths.has(path))
  const text = file === undefined ? undefined : files.texts.get(file)
  const container =
    file === undefined || text === undefined
      ? noDevcontainer
      : readDevcontainer(file, text, sandbox.isContainer)
  const managers = packageManagersOf(files)
  const wanted = wantedVersions(files.texts)
  const setup = setupOf(
    container.commands.length > 0 ? container.commands : managers.flatMap(({ commands }) => commands),
  )
  const isShort = setup.length <= settingsLimits.setupCommandLength
  const hosts = new Map(
    managers.flatMap(({ hosts: needed, file: from }) =>
      needed.map((host) => [host, { host, from }] as const),
    ),
  )
  return {
    found: [
      ...(file === undefined || container.says === '' ? [] : [{ file, says: container.says }]),
      ...managers.map(({ file: path, says }) => ({ file: path, says })),
      ...wanted.map(({ file: path, program, version }) => ({ file: path, says: `${program} ${version}` })),
    ],
    setupCommand: isShort ? setup : '',
    hosts: [...hosts.values()],
    variables: [...container.variables],
    ports: [...container.ports],
    notes: [
      ...files.notes,
      ...container.notes,
      ...(isShort ? [] : ['The setup command would be longer than a project can have. It is not proposed.']),
      ...versionNotes(wanted, sandbox.versions),
    ],
  }
}

/** One script of all commands, which ends when any of them fails. */
function setupOf(commands: readonly string[]): string {
  const [first = ''] = commands
  return commands.length > 1 ? ['set -e', ...commands.map(asPart)].join('\n') : first
}

/** Puts a command with special characters into a subshell. Without the subshell, `set -e` would not end the script when `a` in `a && b` fails. */
function asPart(command: string): string {
  return /[&|;#<\n]/.test(command) ? `(\n${command}\n)` : command
}
