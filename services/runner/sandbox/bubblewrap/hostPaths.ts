/** Which parts of the host a sandbox shows: its programs and libraries, and of /etc what these need to run, name hosts and trust certificates. */
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import type { HostSystem } from './arguments.ts'

/** Looks at this host. What it lacks is left out. */
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
 * Descriptors that this process was started with, by a terminal or a supervisor, and that every child would get. Node's own are
 * closed by the kernel when a child starts.
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

/** Below what is shown, where npm, pip, git and others keep what holds for the whole machine: registries with their tokens, say. */
const settingsPlaces = [
  '/usr/etc',
  '/usr/local/etc',
  '/usr/pip.conf',
  '/usr/local/pip.conf',
  '/usr/lib/node_modules/npm/npmrc',
  '/usr/local/lib/node_modules/npm/npmrc',
] as const

/** O_CLOEXEC, as Linux has it. */
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
