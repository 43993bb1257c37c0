/** Parses the address of EventStoreDB, so that the password is used only in calls. */
import { EventStoreDBClient } from '@eventstore/db-client'
import { UnusableEngine } from '../ports/faults.ts'

export interface EventStoreDbAddress {
  /** The address for the library: the hosts and options, without user and password, because the library repeats its input in faults and on stderr. */
  readonly connectionString: string
  /** Whether the library finds the nodes of a cluster and chooses one. */
  readonly isCluster: boolean
  /** Credentials that are sent with every call, except to an insecure server. */
  readonly credentials: { readonly username: string; readonly password: string }
  /** The server's name in faults and logs, without credentials. */
  readonly engine: string
}

const example = 'esdb://user:password@host:2113, and ?tls=false for a server without TLS'

/** Parses an address of EventStoreDB. Throws `UnusableEngine` with a sentence that names the mistake and contains no secret. */
export function eventStoreDbAddress(url: string): EventStoreDbAddress {
  const [, scheme, authority = '', hosts, options = ''] =
    /^(esdb(?:\+discover)?:\/\/)(?:([^/?]*)@)?([^@/?]+)\/?(\?.*)?$/.exec(url.trim()) ?? []
  if (scheme === undefined || hosts === undefined) {
    throw new UnusableEngine(`EVENTSTORE_URL is not a valid EventStoreDB address. Example: ${example}.`)
  }
  const [, username, password] = /^([^:]+):(.+)$/.exec(authority) ?? []
  const isInsecure = /[?&]tls=false(&|$)/i.test(options)
  if ((authority !== '' || !isInsecure) && (username === undefined || password === undefined)) {
    throw new UnusableEngine(`EVENTSTORE_URL has no user and password. Example: ${example}.`)
  }
  return {
    connectionString: `${scheme}${hosts}${options}`,
    isCluster: scheme.includes('+discover') || hosts.includes(','),
    credentials: { username: decoded(username ?? ''), password: decoded(password ?? '') },
    engine: `EventStoreDB at ${hosts}`,
  }
}

/**
 * The library's client, which connects on its first call. In a cluster it chooses a node of the kind `preferred`. A preference in the address
 * replaces `follower`. Throws `UnusableEngine` for an invalid address.
 */
export function eventStoreDbClient(
  { connectionString, isCluster }: EventStoreDbAddress,
  preferred: 'leader' | 'follower',
): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(
      isCluster ? preferring(connectionString, preferred) : connectionString,
    )
  } catch (fault) {
    const why = fault instanceof Error ? fault.message.split('\n', 1)[0] : String(fault)
    throw new UnusableEngine(`EVENTSTORE_URL is not a valid EventStoreDB address: ${why}`, { cause: fault })
  }
}

function preferring(connectionString: string, preferred: 'leader' | 'follower'): string {
  const [start = '', options = ''] = connectionString.split('?', 2)
  const given = options.split('&').filter((option) => option !== '')
  const others = given.filter((option) => !/^nodePreference=/i.test(option))
  const isGiven = others.length < given.length
  const all = preferred === 'follower' && isGiven ? given : [...others, `nodePreference=${preferred}`]
  return `${start}?${all.join('&')}`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new UnusableEngine(
      'The user or the password in EVENTSTORE_URL has a % that must be written as %25.',
    )
  }
}
