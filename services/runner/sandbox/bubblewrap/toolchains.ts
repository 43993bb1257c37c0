/**
 * Finds the toolchains of the host that commands in a sandbox can use although they are outside of the system folders, such as rustup in a home
 * folder. Of each toolchain, only the files and folders that its programs need are shown. The others may hold credentials, as
 * ~/.cargo/credentials.toml does.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ToolchainName } from '#platform/config/config.ts'
import { sandboxPaths, sandboxSearchPath } from '../layout.ts'
import type { CommandEnvironment } from '../port.ts'
import type { HostSystem } from './arguments.ts'
import { findProgram } from './findProgram.ts'
import { hiddenPlaces, isBelow, matching, realPathOf } from './hostPaths.ts'

interface Toolchain {
  readonly name: ToolchainName
  /** A variable of the server that names the toolchain's folder. */
  readonly variable?: string
  /** A program on the server's PATH. Once links are resolved, it must be in the folder `bin` of the toolchain's folder. */
  readonly program?: string
  /** Where the folder usually is; `~` is the home of the server's user. */
  readonly usual?: string
  /** The files and folders by which the folder of this toolchain is recognized. */
  readonly contains: readonly string[]
  /** The files and folders that are shown; `*` stands for any name. */
  readonly shown: readonly string[]
  /** Files and folders below `shown` that look empty in a sandbox, because they contain settings. */
  readonly hidden?: readonly string[]
  /** The folders in which programs are searched for. */
  readonly searched?: readonly string[]
  /** The variable in the sandbox that names the toolchain's folder. */
  readonly sets?: string
}

const toolchains: readonly Toolchain[] = [
  {
    name: 'go',
    variable: 'GOROOT',
    program: 'go',
    usual: '/usr/local/go',
    contains: ['bin/go', 'pkg/tool'],
    shown: ['bin', 'pkg', 'src', 'lib', 'misc', 'VERSION', 'go.env'],
    searched: ['bin'],
  },
  { name: 'go', variable: 'GOPATH', usual: '~/go', contains: ['bin'], shown: ['bin'], searched: ['bin'] },
  {
    name: 'rust',
    variable: 'CARGO_HOME',
    usual: '~/.cargo',
    contains: ['bin/cargo'],
    shown: ['bin'],
    searched: ['bin'],
  },
  {
    name: 'rust',
    variable: 'RUSTUP_HOME',
    usual: '~/.rustup',
    contains: ['toolchains', 'settings.toml'],
    // If the last three paths were missing, rustup would try to make them, and fail.
    shown: ['toolchains', 'settings.toml', 'update-hashes', 'downloads', 'tmp'],
    sets: 'RUSTUP_HOME',
  },
  {
    name: 'java',
    variable: 'JAVA_HOME',
    program: 'java',
    contains: ['bin/java', 'release'],
    shown: ['bin', 'lib', 'conf', 'jmods', 'include', 'release', 'jre'],
    hidden: ['conf/management', 'lib/management', 'jre/lib/management'].map(
      (folder) => `${folder}/jmxremote.password`,
    ),
    searched: ['bin'],
    sets: 'JAVA_HOME',
  },
  {
    name: 'maven',
    variable: 'MAVEN_HOME',
    program: 'mvn',
    contains: ['bin/mvn', 'boot'],
    shown: ['bin', 'boot', 'lib', 'conf/logging'],
    searched: ['bin'],
  },
  {
    name: 'gradle',
    variable: 'GRADLE_HOME',
    program: 'gradle',
    contains: ['bin/gradle', 'init.d'],
    shown: ['bin', 'lib'],
    searched: ['bin'],
  },
  {
    name: 'node',
    program: 'node',
    contains: ['bin/node', 'include/node'],
    shown: ['bin', 'lib', 'include'],
    hidden: ['lib/node_modules/npm/npmrc'],
    searched: ['bin'],
  },
  {
    name: 'python',
    variable: 'PYENV_ROOT',
    usual: '~/.pyenv',
    contains: ['shims', 'libexec/pyenv', 'versions'],
    shown: ['bin', 'libexec', 'pyenv.d', 'shims', 'versions', 'version'],
    hidden: ['pip.conf', 'etc', '.condarc', 'condarc', 'condarc.d', 'conda-meta/state'].flatMap((name) => [
      `versions/*/${name}`,
      `versions/*/envs/*/${name}`,
    ]),
    searched: ['shims', 'bin'],
    sets: 'PYENV_ROOT',
  },
  { name: 'chrome', usual: '/opt/google', contains: ['chrome/chrome'], shown: ['chrome'] },
]

export interface ToolchainRequest {
  /** The environment of the server. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The toolchains that the operator lets sandboxes use. */
  readonly allowed: readonly ToolchainName[]
  readonly system: HostSystem
}

/** The toolchains that were found, as a sandbox gets them. */
export interface FoundToolchains {
  readonly names: readonly ToolchainName[]
  /** The programs of the host's system, with the folders of the toolchains added. */
  readonly system: HostSystem
  /** Variables for commands, with a PATH on which the toolchains come first. */
  readonly env: CommandEnvironment
}

/** Finds the toolchains of this host. A later change of the host is not noticed. */
export function findToolchains(request: ToolchainRequest): FoundToolchains {
  const { allowed, system } = request
  const found = toolchains
    .filter(({ name }) => allowed.includes(name))
    .flatMap((toolchain) => {
      const folder = folderOf(toolchain, request)
      return folder === undefined ? [] : [[toolchain, folder] as const]
    })
  const below = (of: (toolchain: Toolchain) => readonly string[]) =>
    unique(found.flatMap(([each, folder]) => matching(of(each).map((path) => join(folder, path)))))
  const folders = found.map(([, folder]) => folder)
  // Leaves out links that lead out of the toolchains' folders: they could show anything, even credentials that are not hidden.
  const shown = below((toolchain) => toolchain.shown).filter(
    (path) => !isBelow(path, system.readOnly) && isBelow(realPathOf(path) ?? '/', folders),
  )
  const searched = below((toolchain) => toolchain.searched ?? [])
  const hidden = hiddenPlaces(
    below((toolchain) => toolchain.hidden ?? []),
    [...system.readOnly, ...shown],
  )
  return {
    names: unique(found.map(([{ name }]) => name)),
    system: {
      ...system,
      readOnly: [...system.readOnly, ...shown],
      emptyFolders: unique([...system.emptyFolders, ...hidden.emptyFolders]),
      emptyFiles: unique([...system.emptyFiles, ...hidden.emptyFiles]),
    },
    env: {
      ...Object.fromEntries(
        found.flatMap(([{ sets }, folder]) => (sets === undefined ? [] : [[sets, folder]])),
      ),
      PATH: unique([...searched, ...sandboxSearchPath.split(':')]).join(':'),
    },
  }
}

/**
 * The folder of a toolchain, without links; `undefined` if there is none, or if no variable names one and its programs are on the PATH of every
 * sandbox.
 */
function folderOf(
  { variable, program, usual, contains }: Toolchain,
  { environment }: ToolchainRequest,
): string | undefined {
  const home = environment['HOME']
  const named = variable === undefined ? undefined : environment[variable]
  const onPath = program === undefined ? undefined : findProgram(program, environment['PATH'] ?? '')
  const isInSystem = onPath !== undefined && sandboxSearchPath.split(':').includes(dirname(onPath))
  const places = [named, ...(isInSystem ? [] : [folderAround(onPath), inHome(usual, home)])]
  for (const place of places) {
    if (!place?.startsWith('/')) continue
    const folder = realPathOf(place) ?? '/'
    const isWhole = contains.every((path) => existsSync(join(folder, path)))
    const isHome = folder === (realPathOf(home || '/') ?? home)
    if (canBeShown(folder) && !isHome && isWhole) return folder
  }
  return undefined
}

/**
 * The folder whose `bin` holds this program; `undefined` if the program is elsewhere, for example because it is a script that starts the real
 * program.
 */
function folderAround(program: string | undefined): string | undefined {
  const path = program === undefined ? undefined : realPathOf(program)
  if (program === undefined || path === undefined) return undefined
  const bin = dirname(path)
  return basename(path) === basename(program) && basename(bin) === 'bin' ? dirname(bin) : undefined
}

function inHome(place: string | undefined, home: string | undefined): string | undefined {
  return place?.startsWith('~/') ? home && join(home, place.slice(2)) : place
}

/** Whether the folder can be shown: it is not the root, and not at or below a folder that the sandbox has of its own. */
function canBeShown(folder: string): boolean {
  const own = [...Object.values(sandboxPaths), '/proc', '/dev', '/tmp', '/run', '/opt/flightdeck']
  return folder !== '/' && !isBelow(folder, own)
}

const unique = <Value>(values: readonly Value[]): readonly Value[] => [...new Set(values)]
