/** Finds out whether this machine can make boxes, by making one. */
import { access, chown, constants, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { run } from '../process.ts'
import { endedWell, lastWords } from '../workspace/git/git.ts'
import { trialUser } from '../workspace/sandboxUsers.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { bubblewrap } from './bubblewrap.ts'
import { openControlGroups, type ControlGroups } from './controlGroups.ts'
import { hostSystem, inheritedDescriptors } from './hostSystem.ts'
import type { Sandbox } from './port.ts'
import type { Shortcoming } from './shortcomings.ts'
import { boxFilter, callNumber } from './systemCalls.ts'

export type Detected =
  | {
      readonly kind: 'works'
      readonly sandbox: Sandbox
      readonly version: string
      readonly shortcomings: readonly Shortcoming[]
      /** How the memory of a box is counted: a sentence. */
      readonly memory: string
    }
  /** Why not, and what to do about it: a sentence or two for the operator. */
  | { readonly kind: 'fails'; readonly why: string }

export interface DetectRequest {
  /** PATH, in which `bwrap` is looked for. */
  readonly path: string
  /** A folder that exists, where workspaces will lie: the trial box is made from there. */
  readonly root: string
  /** Git as the box's PATH has it. */
  readonly gitProgram: string
  /** What counts the memory of boxes; looked for unless told. */
  readonly groups?: ControlGroups
}

/** Takes about 100 ms, 50 s at most. */
export async function detectBubblewrap({
  path,
  root,
  gitProgram,
  groups: known,
}: DetectRequest): Promise<Detected> {
  if (process.platform !== 'linux')
    return { kind: 'fails', why: 'Boxes require Linux. They also work in a container or a virtual machine.' }
  const program = await findProgram('bwrap', path)
  if (program === undefined) return { kind: 'fails', why: howToInstall }
  const asked = await run(program, ['--version'], { env: {}, timeoutMs: 5_000, maxOutputBytes: 1_000 })
  const version = asked.stdout
    .toString('utf8')
    .replace(/^bubblewrap /, '')
    .trim()
  const groups = known ?? (await openControlGroups())
  const parts = {
    program,
    system: await hostSystem(),
    inherited: await inheritedDescriptors(),
    gitProgram,
    groups: typeof groups === 'string' ? undefined : groups,
  }
  const memory = typeof groups === 'string' ? countedByProcesses(groups) : groups.says
  const [kernel, processes] = [boxFilter(process.arch, 'kernel'), boxFilter(process.arch, 'processes')]
  const filters = kernel && processes && { kernel, processes }
  return withTrialWorkspace(root, async (workspace): Promise<Detected> => {
    const working = async (sandbox: Sandbox): Promise<Detected> => ({
      kind: 'works',
      sandbox,
      version,
      shortcomings: await boxShortcomings(sandbox, workspace),
      memory,
    })
    const sandbox = bubblewrap({ ...parts, filters })
    const why = await boxFault(sandbox, workspace)
    if (why === undefined) return working(sandbox)
    // A kernel without filters makes boxes, if weaker ones.
    const weaker = bubblewrap({ ...parts, filters: undefined })
    if (filters && (await boxFault(weaker, workspace)) === undefined) return working(weaker)
    return { kind: 'fails', why: `bubblewrap ${version} cannot make a box here (${why}). ${howToAllow}` }
  })
}

/** `why`: a clause that says why the kernel does not count. */
const countedByProcesses = (why: string): string =>
  `The memory of a box is counted by looking at its processes, twice a second, as ${why}. So a box can make no memfd and no large segment of System V. A control group of the server's own mends that: Delegate=yes in its systemd unit.`

/** A program's path, looked for as a shell would. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const dir of path.split(delimiter).filter((entry) => entry.startsWith('/'))) {
    const file = join(dir, name)
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return undefined
}

/** The reason why a box does not work, if it does not. `node`: a Node program that must run in it, by its path here. */
export async function boxFault(
  sandbox: Sandbox,
  workspace: Workspace,
  node?: string,
): Promise<string | undefined> {
  const program = node === undefined ? undefined : { source: node, target: '/opt/flightdeck/node' }
  const box = sandbox.run({
    // What runs beside commands is started by bash.
    command: program ? ['/bin/bash', '-c', '"$1" --version', 'bash', sandbox.seenAs(program)] : ['true'],
    env: {},
    workspace,
    readOnly: program ? [program] : [],
    sockets: [],
    stdin: 'ignore',
    limits: trialLimits,
  })
  let told = ''
  box.stderr.on('data', (chunk: Buffer) => (told = (told + chunk.toString('utf8')).slice(0, 500)))
  box.stdout.resume()
  const { code, reason } = await box.exited
  if (reason === 'time_limit') return 'it does not start within 10 s'
  if (code !== 0) return told.trim().replace(/^bwrap: /, '') || `it ends with code ${String(code)}`
  // A tree that git cannot enter would look as if nothing had changed.
  const file = join(workspace.dir, 'trial')
  await writeFile(file, 'trial\n')
  const args = ['hash-object', '--no-filters', '--', file]
  const git = await sandbox.gitFor(workspace)({ args, timeoutMs: 10_000 })
  return endedWell(git) ? undefined : `git does not run in it: ${lastWords(git)}`
}

/** What a box that works lacks, looked for from inside. */
export async function boxShortcomings(
  sandbox: Sandbox,
  workspace: Workspace,
): Promise<readonly Shortcoming[]> {
  const box = sandbox.run({
    command: ['perl', '-e', lookInside, String(callNumber('unshare'))],
    env: {},
    workspace,
    readOnly: [],
    sockets: [],
    stdin: 'ignore',
    limits: trialLimits,
  })
  let told = ''
  box.stdout.on('data', (chunk: Buffer) => (told += chunk.toString('utf8')))
  box.stderr.resume()
  await box.exited
  return [
    ...(told.includes('filtered') ? [] : [noFilter]),
    ...(told.includes('refused') ? [] : [userNamespaces]),
  ]
}

/** Tells whether a filter is loaded, seccomp(2), and whether a user namespace, CLONE_NEWUSER, is refused. */
const lookInside =
  'open(my $own, "<", "/proc/self/status"); print "filtered\\n" if grep { /^Seccomp:\\s+2/ } <$own>; print "refused\\n" if syscall($ARGV[0] + 0, 0x10000000) != 0'

const noFilter: Shortcoming = {
  name: 'seccomp',
  says: 'No filter of system calls is loaded: programs in a box can make any system call. A filter requires a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64.',
}
const userNamespaces: Shortcoming = {
  name: 'user_namespaces',
  says: 'What runs in a box may make user namespaces, in which it is root in name and may mount. The filter of system calls refuses them, or `sysctl user.max_user_namespaces=0` where nothing else needs them.',
}

const trialLimits = {
  memoryBytes: 512 * 1024 ** 2,
  processes: 64,
  fileSizeBytes: 1024 ** 2,
  wallMs: 10_000,
}

/** A workspace with nothing in it, which is gone afterwards. */
export async function withTrialWorkspace<T>(
  root: string,
  use: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(root, '.box-trial-'))
  try {
    const owner = process.getuid?.() === 0 ? await trialUser() : undefined
    const workspace: Workspace = {
      taskId: 'trial',
      dir: join(dir, 'tree'),
      homeDir: join(dir, 'home'),
      privateGitDir: join(dir, 'git'),
      mirrorDir: join(dir, 'mirror'),
      mirrorObjects: join(dir, 'mirror', 'objects'),
      branch: 'trial',
      baseBranch: 'main',
      startCommit: null,
      owner,
    }
    for (const folder of [workspace.dir, workspace.homeDir, workspace.privateGitDir, workspace.mirrorObjects])
      await mkdir(folder, { recursive: true, mode: 0o700 })
    if (owner)
      for (const folder of [workspace.dir, workspace.homeDir]) await chown(folder, owner.uid, owner.gid)
    return await use(workspace)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

const howToInstall =
  'bubblewrap is not installed. `apt-get install bubblewrap` (Debian, Ubuntu) or `dnf install bubblewrap` (Fedora) brings it.'

const howToAllow =
  'In a container, give it the right to make namespaces (for Docker: `--security-opt seccomp=unconfined --cap-add SYS_ADMIN`); on Ubuntu, `sysctl kernel.apparmor_restrict_unprivileged_userns=0` lets other users than root make boxes.'
