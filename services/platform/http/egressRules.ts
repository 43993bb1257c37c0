/** Decides which hosts a sandbox may reach, and which hosts we may reach for a remote MCP server. */
import { isIP } from 'node:net'
import { isLoopback, leadsBack, reachOf } from '#platform/http/addressReach.ts'

export interface Rule {
  /** The host in lower case; if `isSuffix`, the suffix with its leading dot, which matches all hosts below it. */
  readonly host: string
  readonly isSuffix: boolean
  /** The allowed port; `null` means 80 and 443. */
  readonly port: number | null
  /** Whether the host may lead to this machine or into a private network. */
  readonly mayBeInside: boolean
  /** Whether the host may lead into a private network, though not to this machine. */
  readonly mayBePrivate?: true
  /**
   * If set, only git's reads of these repositories (`owner/name`, in lower case) pass. So the proxy ends tunnels to this host itself, and inspects
   * the requests in them.
   */
  readonly gitOf?: readonly string[]
}

/** The rule for `host` or `*.suffix`, each with an optional `:port`. A port that is no number makes a rule that matches nothing. */
export function ruleOf(written: string, { mayBeInside }: Pick<Rule, 'mayBeInside'>): Rule {
  const { host, port } = hostAndPort(written.toLowerCase())
  return host.startsWith('*.')
    ? { host: host.slice(1), isSuffix: true, port, mayBeInside: false }
    : { host, isSuffix: false, port, mayBeInside }
}

/** The private addresses and hosts that the operator lets projects reach. */
export interface Permitted {
  /** Whether projects may list addresses of this machine and of private networks, written in numbers or as `localhost`. */
  readonly mayReachPrivate: boolean
  /** The hosts on private networks that may be reached by name; none by default. */
  readonly privateHosts?: readonly string[]
}

/**
 * The rule for the host `written` in a project's list. The host may lead to this machine or into a private network only if it is an IP address or
 * `localhost`, and the operator allows that: any other name could lead anywhere later. A name in `privateHosts` may lead into a private network, but
 * not to this machine.
 */
export function ruleOfProject(written: string, { mayReachPrivate, privateHosts = [] }: Permitted): Rule {
  const { host } = hostAndPort(written)
  const rule = ruleOf(written, { mayBeInside: mayReachPrivate && (isIP(host) !== 0 || isLoopback(host)) })
  return privateHosts.includes(host) ? { ...rule, mayBePrivate: true } : rule
}

/**
 * The rule for a server at a known URL, such as the code host. Allows only the server's port. The server may be on this machine or in a private
 * network.
 */
export function ruleOfUrl(address: string): Rule {
  const url = new URL(address)
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port)
  return { host: plainHost(url.hostname), isSuffix: false, port, mayBeInside: true }
}

/**
 * The rule for the code host, by the address of the project's repository there. The local code host, on loopback and without TLS, signs anybody in
 * without a password, so a sandbox gets only git there, for that repository and `others`.
 */
export function ruleOfCodeHost(repository: string, others: readonly string[]): Rule {
  const url = new URL(repository)
  const rule = ruleOfUrl(repository)
  if (url.protocol !== 'http:' || !isLoopback(rule.host)) return rule
  const own = repositoryIn(url.pathname)
  return { ...rule, gitOf: [...(own === undefined ? [] : [own]), ...others] }
}

/** Whether an entry of a project's list is a repository of the code host, as `owner/name`, and not a host. */
export const isRepository = (written: string): boolean => written.includes('/')

const gitReads = /^(\/[^/]+\/[^/]+)\/(?:info\/refs|(git-upload-pack))$/

/** The repository that a request of git's smart protocol reads, in the form of `gitOf`; `undefined` for every other request. */
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

/** The repositories to which git is limited at a destination, whatever other rules allow; `undefined` if the destination is not limited to git. */
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

/** The rules that match a destination. Without a matching rule, the destination may not be reached. */
export function rulesFor(rules: readonly Rule[], host: string, port: number): readonly Rule[] {
  return rules.filter(
    (rule) =>
      (rule.port === null ? port === 80 || port === 443 : port === rule.port) &&
      (rule.isSuffix ? host.endsWith(rule.host) && isIP(host) === 0 : isSameHost(host, rule.host)),
  )
}

/**
 * Whether a connection to `address` may be made for a host that the rules in `matched` allow. `rules` has all rules: if one of them lists the address
 * in numbers, a host name may also lead to this address.
 */
export function mayConnect(
  address: string,
  port: number,
  matched: readonly Rule[],
  rules: readonly Rule[],
): boolean {
  // A destination that is limited to git is reached under its own name only: under another name, nobody would inspect the requests.
  if (matched.every(({ gitOf }) => gitOf === undefined) && isBehindDoor(address, port, rules)) return false
  switch (reachOf(address)) {
    case 'public':
      return true
    case 'inside':
      return (
        [...matched, ...rulesFor(rules, address, port)].some(({ mayBeInside }) => mayBeInside) ||
        (matched.some(({ mayBePrivate }) => mayBePrivate) && !leadsBack(address))
      )
    case 'nowhere':
      return false
  }
}

function isBehindDoor(address: string, port: number, rules: readonly Rule[]): boolean {
  return rules.some((rule) => rule.gitOf !== undefined && rule.port === port && leadsBack(address))
}
