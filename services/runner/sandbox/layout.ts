/** What is at the same place in every sandbox, whoever makes it. */
import { posix } from 'node:path'
import { mirrorObjectsInSandbox } from '../workspace/workspaceGit.ts'
import type { SandboxUser } from '../workspace/workspace.ts'
import type { Bind, SandboxPaths } from './port.ts'

export const sandboxPaths: SandboxPaths = { tree: '/workspace', home: '/home/agent' }

export const sandboxSearchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** All of the environment of what starts a command. */
export const launcherEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } as const

/** What a command's environment has when its spec says nothing else. */
export const commandEnvironment = {
  HOME: sandboxPaths.home,
  PATH: sandboxSearchPath,
  USER: 'agent',
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
} as const

/** Git looks at a tree and a mirror: it needs less than an agent. */
export const gitLimits = { memoryBytes: 4 * 1024 ** 3, processes: 256, fileSizeBytes: 8 * 1024 ** 3 }

/** The files by which programs know the user's name. */
export function accountFiles({
  uid,
  gid,
}: SandboxUser): Readonly<Record<'/etc/passwd' | '/etc/group', string>> {
  return {
    '/etc/passwd': `root:x:0:0:root:/:/bin/sh\nagent:x:${uid}:${gid}:agent:${sandboxPaths.home}:/bin/bash\n`,
    '/etc/group': `root:x:0:\nagent:x:${gid}:\n`,
  }
}

/** Refuses a mount point in a folder that an agent writes to: it could be made a link to elsewhere. Throws `RangeError`. */
export function checkedBind(bind: Bind): Bind {
  const { source, target } = bind
  const isPlain = [source, target].every((path) => path.startsWith('/') && posix.normalize(path) === path)
  const isFree = ![...Object.values(sandboxPaths), '/proc', '/dev', mirrorObjectsInSandbox].some(
    (path) => target === path || target.startsWith(`${path}/`),
  )
  if (!isPlain || !isFree) throw new RangeError(`${target} cannot be bound in the sandbox`)
  return bind
}
