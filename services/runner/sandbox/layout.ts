/** Paths and values that are the same in every sandbox, however it is made. */
import { posix } from 'node:path'
import { searchedFolders } from '#domain/project/searchPath.ts'
import { mirrorObjectsInSandbox } from '../workspace/workspaceGit.ts'
import type { SandboxUser } from '../workspace/workspace.ts'
import type { Bind, CommandEnvironment, SandboxPaths } from './port.ts'

export const sandboxPaths: SandboxPaths = { tree: '/workspace', home: '/home/agent' }

export const sandboxSearchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The complete environment of the programs that start a command. */
export const launcherEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } as const

/** The environment variables of a command, unless the command's spec says otherwise. */
export const commandEnvironment = {
  HOME: sandboxPaths.home,
  PATH: sandboxSearchPath,
  USER: 'agent',
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
} as const

/** The PATH of a command. `added` is the PATH from the project's settings; its folders come before those of `own`, the sandbox's PATH. */
export function searchPathOf(added: string | undefined, paths: SandboxPaths, own: string): string {
  const read = added === undefined ? { folders: [] } : searchedFolders(added)
  // The project's settings accept no `PATH` like this, so `added` does not come from them.
  if ('wrong' in read) throw new RangeError('PATH names a folder that is neither below the tree nor the home')
  return [...read.folders.map(({ below, path }) => posix.join(paths[below], path)), own].join(':')
}

/**
 * The environment variables of a command. `env` is from the command's spec, and `initial` has the variables that the sandbox gives to each command.
 */
export function environmentOf(
  env: Readonly<Record<string, string>>,
  initial: CommandEnvironment,
): CommandEnvironment {
  return { ...initial, ...env, PATH: searchPathOf(env['PATH'], sandboxPaths, initial.PATH) }
}

/** The limits of git. It needs less memory and fewer processes than an agent, but may write larger files, such as its packs. */
export const gitLimits = { memoryBytes: 4 * 1024 ** 3, processes: 256, fileSizeBytes: 8 * 1024 ** 3 }

/** The contents of the files from which programs in a sandbox learn the name of their user. */
export function accountFiles({
  uid,
  gid,
}: SandboxUser): Readonly<Record<'/etc/passwd' | '/etc/group', string>> {
  return {
    '/etc/passwd': `root:x:0:0:root:/:/bin/sh\nagent:x:${uid}:${gid}:agent:${sandboxPaths.home}:/bin/bash\n`,
    '/etc/group': `root:x:0:\nagent:x:${gid}:\n`,
  }
}

/**
 * Returns `bind`. Throws `RangeError` if a path is not absolute and normal, or if the mount point is in a folder that the sandbox has of its own. An
 * agent could replace a mount point by a link in a folder that it can write to.
 */
export function checkedBind(bind: Bind): Bind {
  const { source, target } = bind
  const isPlain = [source, target].every((path) => path.startsWith('/') && posix.normalize(path) === path)
  const isFree = ![...Object.values(sandboxPaths), '/proc', '/dev', mirrorObjectsInSandbox].some(
    (path) => target === path || target.startsWith(`${path}/`),
  )
  if (!isPlain || !isFree) throw new RangeError(`${target} cannot be bound in the sandbox`)
  return bind
}
