/** Tries a sandbox: whether it works on this machine, and which guarantees it lacks. */
import { chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { AllowedShortcoming } from '#platform/config/config.ts'
import { endedWell, lastWords } from '../workspace/git/git.ts'
import { trialUser } from '../workspace/sandboxUsers.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Bind, Sandbox, SandboxSpec } from './port.ts'
import { callNumber } from './systemCalls.ts'

/** The result of detecting a sandbox. */
export type Detected<Kind extends Sandbox = Sandbox, More = unknown> =
  | ({
      readonly kind: 'works'
      readonly sandbox: Kind
      readonly shortcomings: readonly Shortcoming[]
      /** Sentences about how the memory of a sandbox is counted. */
      readonly memory: string
      /** The names of the host's toolchains that the sandbox shows, apart from those of its system folders. */
      readonly toolchains?: readonly string[]
    } & More)
  /** Why the sandbox does not work and what to do, in a sentence or two for the operator. */
  | { readonly kind: 'fails'; readonly why: string }

export interface Shortcoming {
  /** The name under which an operator allows the shortcoming in `ALLOW_WEAKER_SANDBOX`; `null` for a shortcoming that is only reported. */
  readonly name: AllowedShortcoming | null
  /** What is missing, why, and how to fix it, in a sentence or two for the operator. */
  readonly says: string
}

/** The shortcomings that forbid real models in the sandbox. */
export function notAllowed(
  shortcomings: readonly Shortcoming[],
  allowed: readonly AllowedShortcoming[],
): readonly AllowedShortcoming[] {
  return shortcomings.flatMap(({ name }) => (name === null || allowed.includes(name) ? [] : [name]))
}

/**
 * Tries a sandbox with a command and with git at the same time. Returns why the sandbox does not work, or the guarantees that a working sandbox
 * lacks. `node` is the path of the executable `node`, which must run inside.
 */
export async function trySandbox(
  sandbox: Sandbox,
  workspace: Workspace,
  node?: string,
): Promise<string | readonly Shortcoming[]> {
  const [inside, git] = await Promise.all([
    lookAround(sandbox, workspace, node),
    gitFault(sandbox, workspace),
  ])
  return typeof inside === 'string' ? inside : (git ?? inside)
}

async function lookAround(
  sandbox: Sandbox,
  workspace: Workspace,
  node: string | undefined,
): Promise<string | readonly Shortcoming[]> {
  const look = ['perl', '-e', lookInside, String(callNumber('unshare'))] as const
  const program = node === undefined ? undefined : { source: node, target: '/opt/flightdeck/node' }
  // Uses bash, because bash starts the helper processes of commands. Without perl, both guarantees count as missing.
  const nodeAndLook = '"$1" --version && shift && { "$@" || true; }'
  const command = program
    ? (['/bin/bash', '-c', nodeAndLook, 'bash', sandbox.seenAs(program), ...look] as const)
    : (['/bin/bash', '-c', '"$@" || true', 'bash', ...look] as const)
  const { exit, stdout, stderr } = await tryCommand(sandbox, workspace, command, program && [program])
  if (exit.reason === 'time_limit') return 'it does not start within 10 s'
  if (exit.code !== 0)
    return (
      stderr
        .trim()
        .replace(/^bwrap: /, '')
        .slice(0, 500) || `it ends with code ${String(exit.code)}`
    )
  return [
    ...(stdout.includes('filtered') ? [] : [noFilter]),
    ...(stdout.includes('refused') ? [] : [userNamespaces]),
  ]
}

/** Why git cannot read the tree; `undefined` when it can. Without git, no change could be shown or published. */
async function gitFault(sandbox: Sandbox, workspace: Workspace): Promise<string | undefined> {
  const file = join(workspace.dir, 'trial')
  writeFileSync(file, 'trial\n')
  const args = ['hash-object', '--no-filters', '--', file]
  const git = await sandbox.gitFor(workspace)({ args, timeoutMs: 10_000 })
  return endedWell(git) ? undefined : `git does not run in it: ${lastWords(git)}`
}

async function tryCommand(
  sandbox: Sandbox,
  workspace: Workspace,
  command: SandboxSpec['command'],
  readOnly: readonly Bind[] = [],
) {
  const limits = trialLimits
  const child = sandbox.run({ command, env: {}, workspace, readOnly, sockets: [], stdin: 'ignore', limits })
  const [exit, stdout, stderr] = await Promise.all([child.exited, text(child.stdout), text(child.stderr)])
  return { exit, stdout, stderr }
}

/** A script that reports whether a filter of system calls is loaded (seccomp(2)), and whether a new user namespace is refused (CLONE_NEWUSER). */
const lookInside =
  'open(my $own, "<", "/proc/self/status"); print "filtered\\n" if grep { /^Seccomp:\\s+2/ } <$own>; print "refused\\n" if syscall($ARGV[0] + 0, 0x10000000) != 0'

const noFilter: Shortcoming = {
  name: 'seccomp',
  says: 'No filter of system calls is loaded: programs in a sandbox can make any system call. A filter requires a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64.',
}
const userNamespaces: Shortcoming = {
  name: 'user_namespaces',
  says: 'What runs in a sandbox may make user namespaces, in which it is root in name and may mount. The filter of system calls refuses them, or `sysctl user.max_user_namespaces=0` where nothing else needs them.',
}

const trialLimits = {
  memoryBytes: 512 * 1024 ** 2,
  processes: 64,
  fileSizeBytes: 1024 ** 2,
  wallMs: 10_000,
}

/**
 * Calls `use` with an empty workspace, and removes it afterwards. The workspace is made synchronously, so that the trial starts before this thread is
 * busy with loading the other parts.
 */
export async function withTrialWorkspace<T>(
  root: string,
  use: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(root, '.sandbox-trial-'))
  try {
    const owner = process.getuid?.() === 0 ? trialUser() : undefined
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
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (owner)
      for (const folder of [workspace.dir, workspace.homeDir]) chownSync(folder, owner.uid, owner.gid)
    return await use(workspace)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
