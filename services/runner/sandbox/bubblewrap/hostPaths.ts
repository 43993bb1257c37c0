/**
 * Finds the parts of the host that a sandbox can see: programs, libraries, and files of /etc that programs need to run and to trust certificates.
 * Files are inspected synchronously, in a tenth of the time of asynchronous calls: this happens only once, before the server is ready.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { HostSystem } from './arguments.ts'

/** Finds the files and folders of this host that a sandbox can see. What the host does not have is left out. */
export function hostSystem(): HostSystem {
  const readOnly: string[] = []
  const symlinks: { path: string; to: string }[] = []
  for (const path of matching([...systemPaths, ...toolchainSettings])) {
    const isLink = lstatSync(path).isSymbolicLink()
    if (isLink && !path.startsWith('/etc/')) symlinks.push({ path, to: readlinkSync(path) })
    else readOnly.push(path)
  }
  return { readOnly, symlinks, ...hiddenPlaces(matching(settingsPlaces), readOnly) }
}

/** The existing paths that match the patterns. `*` stands for any part of a name. */
export function matching(patterns: readonly string[]): readonly string[] {
  return patterns.flatMap((pattern) =>
    pattern
      .split('/')
      .filter((part) => part !== '')
      .reduce<readonly string[]>(named, ['/']),
  )
}

/** The entries of `folders` that have the name `name` or, if `name` contains a `*`, match `name`. */
function named(folders: readonly string[], name: string): readonly string[] {
  const [start = '', end] = name.split('*')
  return folders.flatMap((folder) => {
    const names =
      end === undefined
        ? [name]
        : (ifAny(() => readdirSync(folder)) ?? []).filter(
            (each) =>
              each.startsWith(start) && each.endsWith(end) && each.length >= start.length + end.length,
          )
    return names.map((each) => join(folder, each)).filter((path) => ifAny(() => lstatSync(path)))
  })
}

/** The files and folders that are hidden. A link is followed first, and its target is hidden only if it is below one of the `visible` paths. */
export function hiddenPlaces(
  paths: readonly string[],
  visible: readonly string[],
): Pick<HostSystem, 'emptyFolders' | 'emptyFiles'> {
  const seen = visible.map((path) => realPathOf(path) ?? path)
  const places = [...new Set(paths.flatMap((path) => realPathOf(path) ?? []))].filter((path) =>
    isBelow(path, seen),
  )
  return {
    emptyFolders: places.filter((path) => lstatSync(path).isDirectory()),
    emptyFiles: places.filter((path) => lstatSync(path).isFile()),
  }
}

/** The path without links; `undefined` if nothing is there. */
export function realPathOf(path: string): string | undefined {
  return ifAny(() => realpathSync.native(path))
}

function ifAny<Value>(look: () => Value): Value | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}

export function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`))
}

/**
 * Descriptors that this process got from a terminal or a supervisor, and that every child would inherit. Node's own descriptors are not among them:
 * the kernel closes them when a child starts.
 */
export function inheritedDescriptors(): readonly number[] {
  const numbers = readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((descriptor) => descriptor > 2)
  const inherited: number[] = []
  for (const descriptor of numbers) {
    const info = ifAny(() => readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? ''
    const flags = /^flags:\s+([0-7]+)$/m.exec(info)?.[1]
    if (flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0) inherited.push(descriptor)
  }
  return inherited
}

/**
 * A command line that closes the inherited descriptors in a shell and then runs the command. The descriptors below `firstFree` were opened for the
 * command, and stay open.
 */
export function withDescriptorsClosed(
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

/**
 * Places with settings for the whole machine, such as those of npm, pip and git. They are below folders that a sandbox can see. Some of these
 * settings name registries together with their tokens.
 */
const settingsPlaces = [
  '/usr/etc',
  '/usr/local/etc',
  '/usr/pip.conf',
  '/usr/local/pip.conf',
  '/usr/lib/node_modules/npm/npmrc',
  '/usr/local/lib/node_modules/npm/npmrc',
  '/etc/java*/management/jmxremote.password',
  '/etc/java/*/*/management/jmxremote.password',
  '/usr/lib/jvm/*/conf/management/jmxremote.password',
  '/usr/lib/jvm/*/lib/management/jmxremote.password',
  // Keys for Google's services.
  '/etc/chromium.d/apikeys',
] as const

/**
 * The folders and files of /etc without which toolchains do not start. What may hold credentials is not among them, or is hidden by `settingsPlaces`:
 * the settings of Maven and Gradle can contain the passwords of registries.
 */
const toolchainSettings = [
  '/etc/java-*-openjdk',
  '/etc/java',
  '/etc/maven/m2.conf',
  '/etc/maven/logging',
  '/etc/chromium.d',
  '/etc/fonts',
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
