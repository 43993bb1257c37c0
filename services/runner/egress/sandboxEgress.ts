/** The way out of one sandbox: a proxy for what may be reached, and what the sandbox needs to speak to it. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Scratch } from '../scratch.ts'
import type { Bind, Sandbox } from '../sandbox/port.ts'
import type { SandboxUser } from '../workspace/workspace.ts'
import { isLoopback } from '#platform/http/reach.ts'
import { startProxy, type ProxyOptions, type Traffic } from './proxyServer.ts'
import { alone, besideRelay, relayPort, type Begins } from './relay.ts'

export interface SandboxEgress {
  readonly env: Readonly<Record<string, string>>
  readonly readOnly: readonly Bind[]
  readonly sockets: readonly Bind[]
  /** The command that starts the sandbox together with the processes that run beside the given one. With the broker's socket in the sandbox (`model`), the broker is shown on the loopback as well. */
  command(
    command: readonly [string, ...string[]],
    begins: Begins,
    model?: string,
  ): readonly [string, ...string[]]
  /** How many processes are started beside a command that is told when to begin. */
  readonly beside: number
  /** Breaks off all connections, and returns what went over them. */
  close(): Promise<Traffic>
}

const nodeInSandbox = '/opt/flightdeck/node'
const socketInSandbox = '/run/flightdeck/egress.sock'
/** What a program in the sandbox reaches by itself: its own loopback. */
const direct = 'localhost,127.0.0.1,::1'

export interface EgressRequest extends Pick<ProxyOptions, 'rules' | 'onRefusal' | 'lookup'> {
  readonly sandbox: Pick<Sandbox, 'kind' | 'seenAs'>
  readonly owner: SandboxUser | undefined
  /** Path of a Node program on the host. */
  readonly node: string
  readonly scratch: Scratch
}

/** Opens it; fails when the proxy cannot listen. */
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
      beside: 0,
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
      beside: 1,
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

function proxyVariables(port: number): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    // Node's own fetch asks for the proxy only when told to.
    NODE_USE_ENV_PROXY: '1',
    // npm checks for updates of itself: a refusal of that means nothing to a person.
    npm_config_update_notifier: 'false',
  }
}
