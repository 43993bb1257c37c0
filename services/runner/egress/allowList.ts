/** Which hosts a sandbox may reach, and which not. Pure, but for what an address leads to. */
import { isIP } from 'node:net'
import { isLoopback, leadsBack, reachOf } from '#platform/http/reach.ts'

export interface Rule {
  /** In lower case; a suffix with its dot matches what is below it. */
  readonly host: string
  readonly isSuffix: boolean
  /** `null`: 80 and 443. */
  readonly port: number | null
  /** Whether it may lead to this machine or into a private network. */
  readonly mayBeInside: boolean
  /** Only git's reads of these repositories (`owner/name`, in lower case) pass, and no tunnel, since nobody could inspect it. */
  readonly gitOf?: readonly string[]
}

/** The rule of `host`, `*.suffix`, or either with `:port`. A port that is no number makes a rule that nothing matches. */
export function ruleOf(written: string, { mayBeInside }: Pick<Rule, 'mayBeInside'>): Rule {
  const { host, port } = hostAndPort(written.toLowerCase())
  return host.startsWith('*.')
    ? { host: host.slice(1), isSuffix: true, port, mayBeInside: false }
    : { host, isSuffix: false, port, mayBeInside }
}

/**
 * The rule for a host that a project lists. It may lead inside only as an IP address or loopback, and if the operator allows that: a name can come
 * to lead anywhere.
 */
export function ruleOfProject(
  written: string,
  { mayReachPrivate }: { readonly mayReachPrivate: boolean },
): Rule {
  const { host } = hostAndPort(written)
  return ruleOf(written, { mayBeInside: mayReachPrivate && (isIP(host) !== 0 || isLoopback(host)) })
}

/** The rule for a server that we know the address of, such as the code host: its port alone, wherever it is. */
export function ruleOfUrl(address: string): Rule {
  const url = new URL(address)
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port)
  return { host: plainHost(url.hostname), isSuffix: false, port, mayBeInside: true }
}

/**
 * The rule for the code host, by the address of the project's repository there. The local one, on loopback and without TLS, signs anybody in
 * without a password, so a sandbox gets only git there, for that repository and `others`.
 */
export function ruleOfCodeHost(repository: string, others: readonly string[]): Rule {
  const url = new URL(repository)
  const rule = ruleOfUrl(repository)
  if (url.protocol !== 'http:' || !isLoopback(rule.host)) return rule
  const own = repositoryIn(url.pathname)
  return { ...rule, gitOf: [...(own === undefined ? [] : [own]), ...others] }
}

/** Whether an entry that a project lists is a repository of the code host, as `owner/name`, and not a host. */
export const isRepository = (written: string): boolean => written.includes('/')

const gitReads = /^(\/[^/]+\/[^/]+)\/(?:info\/refs|(git-upload-pack))$/

/** The repository that a request of git's smart protocol reads, as rules name it; `undefined` for every other request. */
export function readByGit(
  method: string,
  { pathname, search }: Pick<URL, 'pathname' | 'search'>,
): string | undefined {
  const [, repository, pack] = gitReads.exec(pathname) ?? []
  if (repository === undefined) return undefined
  const isRead =
    pack === undefined ? method === 'GET' && search === '?service=git-upload-pack' : method === 'POST'
  return isRead ? repositoryIn(repository) : undefined
}

function repositoryIn(pathname: string): string | undefined {
  return /^\/([^/]+\/[^/]+?)(?:\.git)?$/.exec(pathname)?.[1]?.toLowerCase()
}

/** The only repositories that git may read at a destination, whatever other rules allow; `undefined` if it is not limited to git. */
export function gitDoorAt(rules: readonly Rule[], host: string, port: number): readonly string[] | undefined {
  return rulesFor(rules, host, port).find(({ gitOf }) => gitOf !== undefined)?.gitOf
}

/** Parses a host and an optional port as `CONNECT` and rules write them. The host is in lower case, without brackets or a trailing dot. */
export function hostAndPort(written: string): { readonly host: string; readonly port: number | null } {
  const [, name = written, digits] = /^(.*?)(?::(\d+))?$/s.exec(written) ?? []
  // An IPv6 address without brackets has no port.
  const isBare = isIP(written) === 6
  return {
    host: plainHost(isBare ? written : name),
    port: isBare || digits === undefined ? null : Number(digits),
  }
}

function isSameHost(one: string, other: string): boolean {
  return one === other || (isLoopback(one) && isLoopback(other))
}

function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}

/** The rules that a destination falls under; with none it may not be reached. */
export function rulesFor(rules: readonly Rule[], host: string, port: number): readonly Rule[] {
  return rules.filter(
    (rule) =>
      (rule.port === null ? port === 80 || port === 443 : port === rule.port) &&
      (rule.isSuffix ? host.endsWith(rule.host) && isIP(host) === 0 : isSameHost(host, rule.host)),
  )
}

/**
 * Whether a connection to this address may be made for a host that falls under `matched`. `rules` are all: an address that one of them
 * lists in numbers may also be what a name leads to.
 */
export function mayConnect(
  address: string,
  port: number,
  matched: readonly Rule[],
  rules: readonly Rule[],
): boolean {
  // A destination that is limited to git is reached by its own name alone: under another name, nobody would inspect the requests.
  if (matched.every(({ gitOf }) => gitOf === undefined) && isBehindDoor(address, port, rules)) return false
  switch (reachOf(address)) {
    case 'public':
      return true
    case 'inside':
      return [...matched, ...rulesFor(rules, address, port)].some(({ mayBeInside }) => mayBeInside)
    case 'nowhere':
      return false
  }
}

function isBehindDoor(address: string, port: number, rules: readonly Rule[]): boolean {
  return rules.some((rule) => rule.gitOf !== undefined && rule.port === port && leadsBack(address))
}
