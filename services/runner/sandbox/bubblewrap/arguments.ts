/** The arguments of bubblewrap, which define what a sandbox can see, and its rights. Has no side effects. */
import { launcherEnvironment } from '../layout.ts'
import type { Bind } from '../port.ts'

/** The layout of the host's programs, as found by `hostSystem`. */
export interface HostSystem {
  /** Folders and files that are visible read-only at their own path. */
  readonly readOnly: readonly string[]
  readonly symlinks: readonly { readonly path: string; readonly to: string }[]
  /** Folders and files below `readOnly` that look empty in a sandbox, because they have settings for the whole machine, which may include tokens. */
  readonly emptyFolders: readonly string[]
  readonly emptyFiles: readonly string[]
}

/** The user of a command inside the sandbox. */
export type SandboxIdentity =
  /** For a server that runs as root: another user of the host, without any capability. */
  | { readonly kind: 'host_user'; readonly uid: number; readonly gid: number }
  /** For a server that runs as another user: the same user, under another number in a user namespace. */
  | { readonly kind: 'user_namespace'; readonly uid: number; readonly gid: number }
  /** For git, if the server runs as root: user 0 inside, who may read and write the files of others but has no other right of root. */
  | { readonly kind: 'reader' }

export interface BubblewrapPlan {
  readonly system: HostSystem
  readonly identity: SandboxIdentity
  readonly readOnly: readonly Bind[]
  readonly writable: readonly Bind[]
  /** Small files that are made for the sandbox, each with the descriptor to read it from. */
  readonly files: readonly { readonly descriptor: number; readonly target: string }[]
  readonly tmpBytes: number
}

export function bubblewrapArguments(plan: BubblewrapPlan): readonly string[] {
  const { identity, system } = plan
  const targets = [...plan.readOnly, ...plan.writable, ...plan.files].map(({ target }) => target)
  return [
    '--die-with-parent',
    '--new-session',
    '--unshare-ipc',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--hostname',
    'flightdeck',
    ...identityArguments(identity),
    ...parentsOf(system.readOnly),
    ...system.symlinks.flatMap(({ path, to }) => ['--symlink', to, path]),
    // A toolchain may have been removed from the host since the server started.
    ...system.readOnly.flatMap((path) => ['--ro-bind-try', path, path]),
    ...system.emptyFolders.flatMap((path) => ['--perms', '0755', '--tmpfs', path, '--remount-ro', path]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...temporary('/tmp', plan.tmpBytes),
    ...temporary('/dev/shm', plan.tmpBytes),
    ...parentsOf(targets),
    ...plan.readOnly.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...plan.writable.flatMap(({ source, target }) => ['--bind', source, target]),
    ...plan.files.flatMap(({ descriptor, target }) => [
      '--perms',
      '0644',
      '--ro-bind-data',
      String(descriptor),
      target,
    ]),
    // Makes `/dev` and `/` read-only. Otherwise they would be file systems in memory that can be filled without limit.
    '--remount-ro',
    '/dev',
    '--remount-ro',
    '/',
    '--clearenv',
    ...Object.entries(launcherEnvironment).flatMap(([name, value]) => ['--setenv', name, value]),
    '--chdir',
    '/',
  ]
}

function identityArguments(identity: SandboxIdentity): readonly string[] {
  switch (identity.kind) {
    case 'host_user':
      // Keeps only the capabilities that are needed to become that user: without `--cap-drop`, root would keep all.
      return [
        '--cap-drop',
        'ALL',
        ...['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((cap) => ['--cap-add', cap]),
      ]
    case 'user_namespace':
      return ['--unshare-user', '--uid', String(identity.uid), '--gid', String(identity.gid)]
    case 'reader':
      return ['--cap-drop', 'ALL', '--cap-add', 'CAP_DAC_OVERRIDE']
  }
}

function temporary(path: string, bytes: number): readonly string[] {
  return ['--perms', '1777', '--size', String(bytes), '--tmpfs', path]
}

/** The arguments that make the folders above the paths, from the top down. bubblewrap would make these folders accessible to root alone. */
function parentsOf(paths: readonly string[]): readonly string[] {
  const parents = paths.flatMap((path) => {
    const parts = path.split('/').slice(1, -1)
    return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)
  })
  return [...new Set(parents)].sort().flatMap((path) => ['--perms', '0755', '--dir', path])
}
