/**
 * The parts of the host that a sandbox can see: programs and libraries, and of /etc what these need to run, to resolve host names and to trust
 * certificates.
 */
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import type { HostSystem } from './arguments.ts'

/** Finds the files and folders of this host that a sandbox can see. What the host does not have is left out. */
export async function hostSystem(): Promise<HostSystem> {
  const readOnly: string[] = []
  const symlinks: { path: string; to: string }[] = []
  for (const path of systemPaths) {
    const entry = await lstat(path).catch(() => undefined)
    if (!entry) continue
    if (entry.isSymbolicLink() && !path.startsWith('/etc/')) symlinks.push({ path, to: await readlink(path) })
    else readOnly.push(path)
  }
  const settings = await Promise.all(
    settingsPlaces.map(async (path) => ({ path, entry: await lstat(path).catch(() => undefined) })),
  )
  return {
    readOnly,
    symlinks,
    emptyFolders: settings.flatMap(({ path, entry }) => (entry?.isDirectory() ? [path] : [])),
    emptyFiles: settings.flatMap(({ path, entry }) => (entry?.isFile() ? [path] : [])),
  }
}

/**
 * Descriptors that this process got from a terminal or a supervisor, and that every child would inherit. The kernel closes Node's own when a child
 * starts.
 */
export async function inheritedDescriptors(): Promise<readonly number[]> {
  const numbers = (await readdir('/proc/self/fdinfo')).map(Number).filter((descriptor) => descriptor > 2)
  const inherited: number[] = []
  for (const descriptor of numbers) {
    const info = await readFile(`/proc/self/fdinfo/${descriptor}`, 'utf8').catch(() => '')
    const flags = /^flags:\s+([0-7]+)$/m.exec(info)?.[1]
    if (flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0) inherited.push(descriptor)
  }
  return inherited
}

/** A command line that closes inherited descriptors first, in a shell, except for those below `firstFree`, which are ours. */
export function closing(
  inherited: readonly number[],
  firstFree: number,
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  const closed = inherited
    .filter((descriptor) => descriptor >= firstFree)
    .map((descriptor) => `${descriptor}>&-`)
  if (closed.length === 0) return command
  // Without --norc, a bash whose input is a socket would read a start-up file.
  return [
    '/bin/bash',
    '--norc',
    '--noprofile',
    '-p',
    '-c',
    `exec "$@" ${closed.join(' ')}`,
    'bash',
    ...command,
  ]
}

/** Places below the visible folders where npm, pip, git and others have settings for the whole machine, for example registries with their tokens. */
const settingsPlaces = [
  '/usr/etc',
  '/usr/local/etc',
  '/usr/pip.conf',
  '/usr/local/pip.conf',
  '/usr/lib/node_modules/npm/npmrc',
  '/usr/local/lib/node_modules/npm/npmrc',
] as const

/** The value of O_CLOEXEC on Linux. */
const closeOnExec = 0o2000000

const systemPaths = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust/extracted',
  '/etc/ca-certificates',
  '/etc/crypto-policies',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/protocols',
  '/etc/services',
  '/etc/os-release',
] as const
