/** Answers which hosts the package managers in a project's repository are configured to use, and which repositories its submodules are. */
import { setTimeout as pause } from 'node:timers/promises'
import { AllowedHost, type HostSuggestion } from '#domain/api/projectSettings.schema.ts'
import type { RpcResponse, RpcRequest } from '#platform/ports/rpc.ts'
import type { WorkspaceDeps } from '../deps.ts'
import { isLoopback, reachOf } from '#platform/http/addressReach.ts'
import { hostAndPort } from '#platform/http/egressRules.ts'
import { endedWell } from '../workspace/git/git.ts'
import { submodulesOf } from '../workspace/git/repositorySurvey.ts'
import { fetchedRepository } from './repositoryFacts.ts'

const maxBytes = 8 * 1024 * 1024
const maxSuggestions = 40
const gitTimeoutMs = 2_000

export type HostsDeps = Pick<
  WorkspaceDeps,
  'documents' | 'accessControl' | 'access' | 'codeHost' | 'git' | 'mirrors' | 'logger'
>

/**
 * The hosts that package managers use, according to the repository's files, and the submodules at the code host, as `owner/name`. This server's own
 * configuration is not read, since it does not belong to the project. `undefined` if this runner lacks the repository, or fails.
 */
export async function suggestedHosts(
  deps: HostsDeps,
  request: RpcRequest<'hosts'>,
): Promise<RpcResponse<'hosts'> | undefined> {
  const found = await inRepository(deps, request).catch((fault: unknown) => {
    deps.logger.info({ err: fault }, 'failed to suggest hosts for a repository')
  })
  if (!found) return undefined
  const byHost = new Map(found.map((each) => [each.host, each]))
  return { suggestions: [...byHost.values()].slice(0, maxSuggestions) }
}

/** How long a runner without a repository waits, so that a runner with the repository can answer first. */
const graceMs = 1_000

/** A runner without the repository suggests nothing after a while. Without any answer, the caller would wait for its time limit. */
export async function orNothing<Suggestion>(
  isAlone: boolean,
  answer: Promise<{ readonly suggestions: readonly Suggestion[] } | undefined>,
): Promise<{ readonly suggestions: readonly Suggestion[] } | undefined> {
  const found = await answer
  if (found || isAlone) return found
  await pause(graceMs, undefined, { ref: false })
  return { suggestions: [] }
}

async function inRepository(
  deps: HostsDeps,
  request: RpcRequest<'hosts'>,
): Promise<readonly HostSuggestion[] | undefined> {
  const fetched = await fetchedRepository(deps, request)
  if (!fetched) return undefined
  const { gitDir, tree, url } = fetched
  const read = (args: readonly string[]) =>
    deps.git({ gitDir, args, timeoutMs: gitTimeoutMs, maxOutputBytes: maxBytes })
  const own = (await submodulesOf(deps.git, { gitDir, commit: tree, url })).filter(({ isOnHost }) => isOnHost)
  const submodules = own.map(({ repository: host, path }) => ({
    host: host.toLowerCase(),
    from: `.gitmodules: ${path}`,
  }))
  const listed = await read(['ls-tree', '-z', '--name-only', tree, '--', ...repositoryFiles.keys()])
  if (!endedWell(listed)) return submodules
  const names = listed.stdout.toString('utf8').split('\0')
  const found = await Promise.all(
    [...repositoryFiles].map(async ([path, format]) => {
      if (!names.includes(path)) return []
      const file = await read(['cat-file', 'blob', `${tree}:${path}`])
      return endedWell(file)
        ? hostsIn(format, file.stdout.toString('utf8')).map((host) => ({ host, from: path }))
        : []
    }),
  )
  return [...submodules, ...found.flat()]
}

/** Formats of configuration files. They are read as plain text, and nothing in them is ever run. */
export type Format = keyof typeof patterns

/** For each format, how an address is written; further addresses may follow, separated by commas, bars or blanks. */
const patterns = {
  npmrc: /^[ \t]*(?:@[^:\s]+:)?registry\s*=\s*(\S+)/gm,
  npmLock: /"resolved":\s*"([^"]+)"/g,
  yarnrc: /^[ \t]*npmRegistryServer:\s*["']?([^\s"']+)/gm,
  yarnLock: /^[ \t]+resolved "([^"#]+)/gm,
  pip: /^[ \t]*(?:index-url|extra-index-url|find-links)\s*=((?:\s*https?:\S+)+)/gm,
  requirements: /^[ \t]*(?:-i|-f|--index-url|--extra-index-url|--find-links)[ =]\s*(\S+)/gm,
  uvLock: /\b(?:registry|url) = "([^"]+)"/g,
  cargo: /^[ \t]*(?:registry|index|source)\s*=\s*"(?:(?:sparse|registry)\+)?([^"]+)"/gm,
  maven: /<url>\s*([^<\s]+)\s*<\/url>/g,
  gems: /^[ \t]*(?:source\s+["']|remote: |BUNDLE_MIRROR[\w.]*:\s*["']?)([^\s"']+)/gm,
} as const

/** The format of each known file in a repository. */
const repositoryFiles: ReadonlyMap<string, Format> = new Map([
  ['.npmrc', 'npmrc'],
  ['.yarnrc.yml', 'yarnrc'],
  ['package-lock.json', 'npmLock'],
  ['yarn.lock', 'yarnLock'],
  ['pip.conf', 'pip'],
  ['requirements.txt', 'requirements'],
  ['uv.lock', 'uvLock'],
  ['.cargo/config.toml', 'cargo'],
  ['Cargo.lock', 'cargo'],
  ['Gemfile', 'gems'],
  ['Gemfile.lock', 'gems'],
  ['.mvn/settings.xml', 'maven'],
])

const maxHosts = 20

/**
 * At most `maxHosts` hosts in a configuration file of this format, without duplicates. Each is written as in a project's list of allowed hosts.
 * Loopback and private addresses are left out.
 */
export function hostsIn(format: Format, text: string): readonly string[] {
  const found = new Set<string>()
  const meant = format === 'maven' ? withoutComments(text) : text
  for (const [, written = ''] of meant.matchAll(patterns[format]))
    for (const word of written.split(/[\s,|]+/)) {
      const host = hostOf(word)
      if (host !== undefined) found.add(host)
      if (found.size >= maxHosts) return [...found]
    }
  return [...found]
}

/** The text of an XML file without comments, which may contain examples. */
function withoutComments(text: string): string {
  return text
    .split('<!--')
    .map((part, index) => {
      const end = part.indexOf('-->')
      return index === 0 ? part : end < 0 ? '' : part.slice(end + 3)
    })
    .join('')
}

function hostOf(word: string): string | undefined {
  if (!/^https?:\/\//i.test(word) || !URL.canParse(word)) return undefined
  const url = new URL(word)
  // `url.host` leaves out a password in the address.
  const allowed = AllowedHost.safeParse(url.host)
  if (!allowed.success) return undefined
  const { host } = hostAndPort(allowed.data)
  const isHere = isLoopback(host) || (/^[\d.]+$|:/.test(host) && reachOf(host) !== 'public')
  return isHere ? undefined : allowed.data
}
