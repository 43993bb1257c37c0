/** The settings for a project's tasks, and their limits. */

export const settingsLimits = {
  setupCommandLength: 10_000,
  variables: 100,
  secrets: 64,
  nameLength: 100,
  /** The most bytes of a variable's value. */
  valueBytes: 32 * 1024,
  /** The most bytes of a secret: longer secrets would slow the redaction of output. */
  secretBytes: 8 * 1024,
  /** The most bytes of all secrets of a project together. */
  allSecretsBytes: 128 * 1024,
  /** The most bytes of all variables together, since they are stored in one event. */
  allValuesBytes: 256 * 1024,
  /** The fewest characters of a secret, because redacting shorter secrets from output would redact ordinary words. */
  secretLength: 8,
  egress: 200,
  filters: 20,
  submodules: 50,
  hooks: 50,
  /** The most characters of a hook's command. */
  hookCommandLength: 4_000,
  services: 8,
  serviceNameLength: 32,
  serviceCommandLength: 4_000,
} as const

/** A process that runs beside the agent in its sandbox, such as a database. */
export interface ProjectService {
  readonly name: string
  /** Shell code that runs as long as the service. */
  readonly command: string
  /** The service is ready once a process listens on this TCP port. With `null`, the service is ready as soon as it runs. */
  readonly readyPort: number | null
}

export interface ProjectSettings {
  /** A command that sets up each new workspace; empty for none. It is not run when the files that it left earlier can be used again. */
  readonly setupCommand: string
  /** Variables of the setup, agents, services, commands and shells. `PATH` may only list folders in the workspace or the home (`searchPath.ts`). */
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  /**
   * Hosts that may be reached in addition to the code host: `host`, `*.suffix`, or either with `:port`. An entry `owner/name` is a repository of the
   * local code host.
   */
  readonly egress: readonly string[]
  /** Whether an agent may let its model provider fetch from the network, which bypasses the host list `egress`. */
  readonly modelFetches: boolean
  /** Clean filters that need not run, by their names in `.gitattributes`: their files may be published unfiltered. */
  readonly allowedFilters: readonly string[]
  /** Whether the first turn that changes something opens a draft pull request. */
  readonly draftPullRequests: boolean
  /**
   * Repositories of the code host, as `owner/name` in lower case, that are fetched as submodules with the permissions of the person who runs the
   * task.
   */
  readonly submodules: readonly string[]
  /**
   * The version of the repository's `.claude/settings.json` whose hooks may run; `null` when no hooks may run. `hash` is the SHA-256 of the whole
   * file, so that anybody can compute it.
   */
  readonly allowedHooks: { readonly hash: string; readonly since: string } | null
  readonly services: readonly ProjectService[]
}

export const noSettings: ProjectSettings = {
  setupCommand: '',
  variables: [],
  egress: [],
  modelFetches: false,
  allowedFilters: [],
  draftPullRequests: false,
  submodules: [],
  allowedHooks: null,
  services: [],
}

const reservedNames = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'PWD',
  'TMPDIR',
  'ENV',
  'BASH_ENV',
  'BASHOPTS',
  'SHELLOPTS',
  'IFS',
  'PS4',
  'PROMPT_COMMAND',
  'NODE_OPTIONS',
  'NODE_REPL_EXTERNAL_MODULE',
  'IS_SANDBOX',
  // The sandbox sets the locale to C.UTF-8, so people cannot set `LANG`. A command that needs another locale can set the locale itself.
  'LANG',
  'LANGUAGE',
  'LOCPATH',
  'NLSPATH',
  'GCONV_PATH',
  'GETCONF_DIR',
  'TZDIR',
  'HOSTALIASES',
  'LOCALDOMAIN',
  'RES_OPTIONS',
  'NIS_PATH',
  // Shells set these variables themselves.
  'UID',
  'EUID',
  'PPID',
])
const reservedPrefixes = [
  'LD_',
  'LC_',
  'GLIBC_',
  'MALLOC_',
  'RESOLV_',
  'DYLD_',
  'ANTHROPIC_',
  'CLAUDE_',
  'CURSOR_',
  'GIT_',
  'FLIGHTDECK_',
]

/** Whether a variable of this name would change how the sandbox, git or an agent works. */
export function isReservedName(name: string): boolean {
  const upper = name.toUpperCase()
  return (
    reservedNames.has(upper) ||
    reservedPrefixes.some((prefix) => upper.startsWith(prefix)) ||
    upper.endsWith('_PROXY')
  )
}

/** The length of a text in UTF-8 bytes. */
export function bytesOf(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}
