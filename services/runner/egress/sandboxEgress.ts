/** The way out of one sandbox: a proxy to the allowed hosts, and the sockets, variables and commands by which the sandbox uses it. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Scratch } from '../scratch.ts'
import type { Bind, Sandbox } from '../sandbox/port.ts'
import type { SandboxUser } from '../workspace/workspace.ts'
import { isLoopback } from '#platform/http/addressReach.ts'
import { startProxy, type ProxyOptions, type Traffic } from './proxyServer.ts'
import { alone, besideRelay, modelPort, relayPort, type Begins } from './relay.ts'

export interface SandboxEgress {
  readonly env: Readonly<Record<string, string>>
  readonly readOnly: readonly Bind[]
  readonly sockets: readonly Bind[]
  /**
   * The command line for the sandbox. It starts the given command and, if one is needed, the relay. `model` is the path of the broker's socket. If it
   * is given, the relay also makes the broker reachable on the loopback.
   */
  command(
    command: readonly [string, ...string[]],
    begins: Begins,
    model?: string,
  ): readonly [string, ...string[]]
  /** How many relays `command` starts beside the given command: 1, or 0 without a sandbox. */
  readonly relayCount: number
  /** The ports in the sandbox on which the relay can listen. */
  readonly ownPorts: readonly number[]
  /** Ends all connections, and returns their traffic. */
  close(): Promise<Traffic>
}

const nodeInSandbox = '/opt/flightdeck/node'
const socketInSandbox = '/run/flightdeck/egress.sock'
/** The hosts for which programs in the sandbox use no proxy: its own loopback. */
const direct = 'localhost,127.0.0.1,::1'

export interface EgressRequest extends Pick<ProxyOptions, 'rules' | 'onRefusal' | 'lookup'> {
  readonly sandbox: Pick<Sandbox, 'kind' | 'seenAs'>
  readonly owner: SandboxUser | undefined
  /** The path of the executable `node` on the host. */
  readonly node: string
  readonly scratch: Scratch
}

/** Opens the way out of a sandbox; rejects when the proxy cannot listen. */
export async function openSandboxEgress({
  sandbox,
  owner,
  node,
  scratch,
  ...proxying
}: EgressRequest): Promise<SandboxEgress> {
  if (sandbox.kind === 'none') {
    const proxy = await startProxy({ listen: 'loopback', ...proxying })
    return {
      env: proxyVariables(proxy.port),
      readOnly: [],
      sockets: [],
      command: alone,
      relayCount: 0,
      ownPorts: [],
      async close() {
        await proxy.close()
        return proxy.traffic()
      },
    }
  }
  const folder = await scratch.make()
  try {
    const socketPath = join(folder, 'egress.sock')
    const proxy = await startProxy({ listen: { socketPath, owner }, ...proxying })
    const socket = { source: socketPath, target: socketInSandbox }
    const program = { source: node, target: nodeInSandbox }
    const place = {
      node: sandbox.seenAs(program),
      socket: sandbox.seenAs(socket),
      ports: proxying.rules.flatMap(({ host, port }) => (isLoopback(host) && port !== null ? [port] : [])),
    }
    return {
      env: proxyVariables(relayPort),
      readOnly: [program],
      sockets: [socket],
      command: (command, begins, model) => besideRelay(place, command, begins, model),
      relayCount: 1,
      ownPorts: [relayPort, modelPort, ...place.ports],
      async close() {
        await proxy.close()
        await rm(folder, { recursive: true, force: true })
        return proxy.traffic()
      },
    }
  } catch (fault) {
    await rm(folder, { recursive: true, force: true })
    throw fault
  }
}

/** The variables by which programs in a sandbox use its relay. */
export const relayVariables = (): Readonly<Record<string, string>> => proxyVariables(relayPort)

function proxyVariables(port: number): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    // Node's own fetch uses the proxy only with this variable.
    NODE_USE_ENV_PROXY: '1',
    // Otherwise npm would check for updates of itself, and a person would get a report about the refused connection.
    npm_config_update_notifier: 'false',
    ...Object.fromEntries(javaOptions.map((name) => [name, javaProxy(port)])),
  }
}

/** Java ignores the proxy variables above, so its build tools get the proxy as options in these variables. */
const javaOptions = ['MAVEN_OPTS', 'GRADLE_OPTS'] as const

const javaProxy = (port: number): string =>
  ['http', 'https'].map((name) => `-D${name}.proxyHost=127.0.0.1 -D${name}.proxyPort=${port}`).join(' ')

/**
 * Adds the variables for the network to those of a project. If both set a variable, the network's value counts; for the options of Java's build
 * tools, both values are joined instead.
 */
export function withNetwork(
  own: Readonly<Record<string, string>>,
  network: SandboxEgress['env'],
): Readonly<Record<string, string>> {
  const options = javaOptions.flatMap((name) => {
    const both = [own[name], network[name]].filter((words) => words !== undefined)
    return both.length === 0 ? [] : [[name, both.join(' ')]]
  })
  return { ...own, ...network, ...Object.fromEntries(options) }
}
