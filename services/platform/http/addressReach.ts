/** Classifies IP addresses, so that no host name leads into the server's own network. */
import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'

/**
 * `inside`: loopback, private networks and all addresses of this machine. `nowhere`: multicast, reserved and link-local addresses, the metadata
 * services of clouds, and text that is no IP address.
 */
export type Reach = 'public' | 'inside' | 'nowhere'

export function reachOf(address: string): Reach {
  switch (isIP(address)) {
    case 4:
      if (metadata.check(address, 'ipv4')) return 'nowhere'
      if (inside.check(address, 'ipv4')) return 'inside'
      return reserved.check(address, 'ipv4') ? 'nowhere' : publicUnlessOwn(address)
    case 6:
      if (metadata.check(address, 'ipv6')) return 'nowhere'
      if (inside.check(address, 'ipv6')) return 'inside'
      // Only addresses that are assigned for public use count as public. IPv6 addresses that contain an IPv4 address do not count as public.
      return global.check(address, 'ipv6') && !reserved.check(address, 'ipv6')
        ? publicUnlessOwn(address)
        : 'nowhere'
    default:
      return 'nowhere'
  }
}

// What listens on a public address of this machine may be meant for the machine alone, behind a firewall that does not see its own connections.
const publicUnlessOwn = (address: string): Reach => (leadsBack(address) ? 'inside' : 'public')

/** Whether a host is loopback: `localhost`, `::1` or an IPv4 address that begins with `127.`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** The fault when a host name leads to no public address, so that no connection may be made. */
export class LeadsInside extends Error {
  override readonly name = 'LeadsInside'
}

/** Resolves a host name to its public addresses only. Fails with `LeadsInside` when it has none. */
export const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (fault, found) => {
    if (fault) return done(fault, [])
    const reached = found.filter(({ address }) => reachOf(address) === 'public')
    const [first] = reached
    if (first === undefined) return done(new LeadsInside(`${hostname} leads into a private network.`), [])
    return options.all === true ? done(null, reached) : done(null, first.address, first.family)
  })
}

/** Whether an address leads to this machine, by loopback or by one of its own addresses. An IPv4-mapped IPv6 address counts like its IPv4 address. */
export function leadsBack(address: string): boolean {
  const family = isIP(address)
  if (family === 0) return false
  const as = family === 4 ? 'ipv4' : 'ipv6'
  return loopback.check(address, as) || ownAddresses().check(address, as)
}

/** The addresses of this machine. Read every time, since networks come and go. */
function ownAddresses(): BlockList {
  const own = new BlockList()
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((found) => found ?? []))
    own.addAddress(address, family === 'IPv4' ? 'ipv4' : 'ipv6')
  return own
}

const loopback = listed(['127.0.0.0/8'], ['::1/128'])
/** The last four IPv4 networks are for documentation and benchmarks, so only the operators of a network can have put a host there. */
const inside = listed(
  [
    '127.0.0.0/8',
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    '192.0.2.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
  ],
  ['::1/128', 'fc00::/7'],
)
/** Addresses of the metadata services of Alibaba, Azure, Amazon, Google and Scaleway. Their link-local addresses are in `reserved`. */
const metadata = listed(
  ['100.100.100.200/32', '168.63.129.16/32'],
  ['fd00:ec2::254/128', 'fd20:ce::254/128', 'fd00:42::42/128'],
)
const reserved = listed(
  ['0.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '192.88.99.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
)
const global = listed([], ['2000::/3'])

function listed(v4: readonly string[], v6: readonly string[]): BlockList {
  const list = new BlockList()
  for (const [subnets, family] of [[v4, 'ipv4'] as const, [v6, 'ipv6'] as const])
    for (const subnet of subnets) {
      const [network = '', bits] = subnet.split('/')
      list.addSubnet(network, Number(bits), family)
    }
  return list
}
