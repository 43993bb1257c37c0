/**
 * The product with each service in a process of its own, on shared engines: the form that operators run. The local code host takes the place of
 * GitHub.
 */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { freePortsFor } from '../freePorts.ts'
import {
  modelEnvironment,
  repoArguments,
  signingIn,
  type AnyProduct,
  type ProductOptions,
} from '../product.ts'
import type { SharedEngines } from '../servers/sharedEngines.ts'
import { personWith, type Person } from './person.ts'
import { processesOf } from './processes.ts'
import {
  cleanEnvironment,
  discard,
  noneLeft,
  ownFolder,
  serverProcess,
  type ServerProcess,
} from './server.ts'

export const servicesApart = ['codehost', 'command', 'query', 'gateway', 'runner'] as const
export type ServiceApart = (typeof servicesApart)[number]

export interface ApartOptions extends Omit<ProductOptions, 'dataDir' | 'preload' | 'codeHost'> {
  readonly engines: Pick<SharedEngines, 'env'>
  /** How many processes of each service; one by default. */
  readonly count?: Readonly<Partial<Record<ServiceApart, number>>>
  /** Variables for one process, in addition to the common environment. */
  readonly envOf?: (service: ServiceApart, index: number) => Readonly<Record<string, string>>
}

export interface ApartProduct extends AnyProduct {
  /** The processes of a service, in the order of their start. */
  readonly of: Readonly<Record<ServiceApart, readonly ServerProcess[]>>
  /** The addresses of the processes, by service. A gateway calls the command and the query service with the same place in the order. */
  readonly at: Readonly<Record<ServiceApart, readonly string[]>>
  /** A person with this token, at one of several gateways. */
  personAt(gateway: number, token: string): Person
  /** The address of a gateway: `http://127.0.0.1:<port>`. */
  baseAt(gateway: number): string
  /** The living processes of one service process, including itself. */
  processesOf(service: ServiceApart, index: number): ReturnType<typeof processesOf>
  /** The folder that a process has as its home, for temporary files and for its data. */
  folderOf(service: ServiceApart, index: number): string
  readonly masterKey: string
}

/** Starts all processes at once and waits until each is ready. Throws with the output of a process that does not become ready. */
export async function startApart(options: ApartOptions): Promise<ApartProduct> {
  const { engines, count = {}, env = {}, repos = [], model = 'scripted' } = options
  const folder = await ownFolder()
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeAtExit)
  const masterKey = randomBytes(32).toString('base64')
  const wanted = servicesApart.flatMap((service) =>
    Array.from({ length: count[service] ?? 1 }, (_, index) => ({ service, index })),
  )
  const [codeHostPort = 0, ...ports] = await freePortsFor(wanted.length + 1)
  const placed = wanted.map((one, n) => ({ ...one, port: ports[n] ?? 0 }))
  const urlsOf = (service: ServiceApart) =>
    placed.filter((one) => one.service === service).map(({ port }) => `http://127.0.0.1:${port}`)

  const started = await Promise.all(
    placed.map(async ({ service, index, port }) => {
      const own = join(folder, `${service}-${index}`)
      await mkdir(own, { mode: 0o711 })
      const server = serverProcess(own, {
        env: {
          ...cleanEnvironment(own),
          ...engines.env,
          MASTER_KEY: masterKey,
          SERVICES: service,
          PORT: String(port),
          CODEHOST_PORT: String(codeHostPort),
          DATA_DIR: join(own, 'data'),
          ...(service === 'gateway'
            ? { COMMAND_URL: nth(urlsOf('command'), index), QUERY_URL: nth(urlsOf('query'), index) }
            : {}),
          // Only runners need the model's key.
          ...(service === 'runner' ? modelEnvironment(model) : {}),
          ...env,
          ...options.envOf?.(service, index),
        },
        args: service === 'codehost' ? repoArguments(repos) : [],
      })
      return { service, server }
    }),
  )
  const of = (service: ServiceApart) =>
    started.filter((one) => one.service === service).map(({ server }) => server)
  const told = (stream: 'stdout' | 'stderr') =>
    started.map(({ service, server }) => `${service}:\n${server.logs[stream]}`).join('\n')
  const processes = () => processesOf(basename(folder))
  async function stop(): Promise<void> {
    try {
      await Promise.all(started.map(({ server }) => server.isRunning() && server.terminate()))
      await noneLeft(processes)
    } finally {
      await Promise.all(started.map(({ server }) => server.kill9()))
      process.off('exit', removeAtExit)
      await discard(folder)
    }
  }
  try {
    await Promise.all(started.map(({ server }) => server.start()))
  } catch (fault) {
    await stop().catch(() => undefined)
    throw fault
  }
  const [base = ''] = urlsOf('gateway')
  return {
    base,
    codeHostUrl: `http://localhost:${codeHostPort}`,
    logs: {
      get stdout() {
        return told('stdout')
      },
      get stderr() {
        return told('stderr')
      },
    },
    signIn: signingIn(base),
    personWith: (token) => personWith(base, token),
    baseAt: (gateway) => nth(urlsOf('gateway'), gateway),
    personAt: (gateway, token) => personWith(nth(urlsOf('gateway'), gateway), token),
    processes,
    stop,
    of: {
      codehost: of('codehost'),
      command: of('command'),
      query: of('query'),
      gateway: of('gateway'),
      runner: of('runner'),
    },
    at: {
      codehost: urlsOf('codehost'),
      command: urlsOf('command'),
      query: urlsOf('query'),
      gateway: urlsOf('gateway'),
      runner: urlsOf('runner'),
    },
    processesOf: (service, index) => processesOf(`${basename(folder)}/${service}-${index}`),
    folderOf: (service, index) => join(folder, `${service}-${index}`),
    masterKey,
  }
}

/** The address at this place; if there are too few, the places start again from the first. */
function nth(urls: readonly string[], index: number): string {
  return urls[index % urls.length] ?? ''
}
