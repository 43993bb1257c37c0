/** Which hosts a box may reach, and which not. Pure, but for what an address leads to. */
import { isIP } from 'node:net'
import { reachOf } from './addresses.ts'

export interface Rule {
  /** In lower case; a suffix with its dot matches what is below it. */
  readonly host: string
  readonly isSuffix: boolean
  /** `null`: 80 and 443. */
  readonly port: number | null
  /** Whether it may lead to this machine or into a private network. */
  readonly mayBeInside: boolean
  /** Only git's reads of what anybody may read pass, and no tunnel, in which nobody could tell. */
  readonly onlyGit?: true
}

/** The rule of `host`, `*.suffix`, or either with `:port`. A port that is no number makes a rule that nothing matches. */
export function ruleOf(written: string, { mayBeInside }: Pick<Rule, 'mayBeInside'>): Rule {
  const { host, port } = hostAndPort(written.toLowerCase())
  return host.startsWith('*.')
    ? { host: host.slice(1), isSuffix: true, port, mayBeInside: false }
    : { host, isSuffix: false, port, mayBeInside }
}

/** The rule of what a project lists. Only in numbers may it lead inside, where the operator lets it: a name can come to lead anywhere. */
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
 * The rule for the code host. The local one, on loopback and without TLS, signs anybody in without a password: of it a box gets git alone.
 */
export function ruleOfCodeHost(address: string): Rule {
  const url = new URL(address)
  const isLocal = url.protocol === 'http:' && isLoopback(plainHost(url.hostname))
  return { ...ruleOfUrl(address), ...(isLocal ? { onlyGit: true } : {}) }
}

const gitReads = /^\/[^/]+\/[^/]+\/(?:info\/refs|(git-upload-pack))$/

/** Whether a request is one of git's smart protocol that reads. */
export function isGitRead(method: string, { pathname, search }: Pick<URL, 'pathname' | 'search'>): boolean {
  const [matched, pack] = gitReads.exec(pathname) ?? []
  if (matched === undefined) return false
  return pack === undefined ? method === 'GET' && search === '?service=git-upload-pack' : method === 'POST'
}

/** Host and port as `CONNECT` and rules write them: the host in lower case, without brackets and closing dot. */
export function hostAndPort(written: string): { readonly host: string; readonly port: number | null } {
  const [, name = written, digits] = /^(.*?)(?::(\d+))?$/s.exec(written) ?? []
  // An IPv6 address without brackets has no port.
  const isBare = isIP(written) === 6
  return {
    host: plainHost(isBare ? written : name),
    port: isBare || digits === undefined ? null : Number(digits),
  }
}

/** Loopback goes by several names. */
function isSame(one: string, other: string): boolean {
  return one === other || (isLoopback(one) && isLoopback(other))
}

/** Whether a host is a machine's own loopback, by name or in numbers. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
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
      (rule.isSuffix ? host.endsWith(rule.host) && isIP(host) === 0 : isSame(host, rule.host)),
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
  switch (reachOf(address)) {
    case 'public':
      return true
    case 'inside':
      return [...matched, ...rulesFor(rules, address, port)].some(({ mayBeInside }) => mayBeInside)
    case 'nowhere':
      return false
  }
}
