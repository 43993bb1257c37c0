/** The one place that reads the environment: everything is checked at once, before anything starts. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import {
  address,
  type allowedShortcomings,
  anyPort,
  count,
  dollars,
  engine,
  gigabytes,
  folders,
  key,
  onOrOff,
  organizations,
  people,
  peopleOrEverybody,
  port,
  prices,
  shortcomings,
  engineSockets,
  proxiesOf,
  unixSocket,
  unused,
} from './values.ts'

import { agentSecrets, agentVariables, readAgents, type AgentsConfig } from './agents.ts'
import type { AllowList } from '../access/allowList.ts'

export const serviceNames = ['codehost', 'command', 'query', 'runner', 'gateway'] as const
export type ServiceName = (typeof serviceNames)[number]

/** What a box may lack without stopping a real model, by the operator's word. */
export type AllowedShortcoming = (typeof allowedShortcomings)[number]

export type CodeHostConfig =
  | { readonly kind: 'local' }
  | {
      readonly kind: 'github'
      readonly serverUrl: string
      readonly apiUrl: string
      readonly clientId: string
      readonly clientSecret: string
    }

/** The container engine that makes sandboxes, where bubblewrap does not. */
export interface ContainersConfig {
  /** Where it may listen, in the order in which they are tried. */
  readonly sockets: readonly string[]
  /** `null`: ours, which is built where the engine does not have it. */
  readonly image: string | null
  /** The proxies of this process, for building the image. */
  readonly buildArguments: Readonly<Record<string, string>>
  /** Folders of this process, each with the folder that it is on the engine's machine; none: both see the same. */
  readonly shared: Readonly<Record<string, string>>
}

/** What stands behind the ports: an address of an engine that others may share, or `null` for the embedded one. */
export interface EngineUrls {
  readonly eventStore: string | null
  readonly mongo: string | null
  readonly nats: string | null
}

export interface Config {
  /** What this process runs. */
  readonly services: ReadonlySet<ServiceName>
  readonly engines: EngineUrls
  /** Where the gateway finds the services that it has not in its own process. */
  readonly upstreams: { readonly command: string | null; readonly query: string | null }
  /** Where this process listens: the product itself at a gateway, else what other services ask. */
  readonly port: number
  readonly codeHostPort: number
  readonly codeHostHost: string
  readonly host: string
  readonly dataDir: string
  readonly publicUrl: string | null
  readonly masterKey: string | undefined
  readonly codeHost: CodeHostConfig
  readonly agents: AgentsConfig
  /** Where programs are looked for. */
  readonly path: string
  /** The operator's own environment, for programs that act for the operator: cloning what `--repo` names. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** `auto`: bubblewrap, else a container engine that is there. */
  readonly sandbox: 'auto' | 'bubblewrap' | 'container' | 'none'
  readonly containers: ContainersConfig
  readonly weakerBox: readonly AllowedShortcoming[]
  /** Whether a project's boxes may reach addresses of this machine and of private networks that the project lists in numbers. */
  readonly privateEgress: boolean
  /** Who may come in. */
  readonly allowed: AllowList
  /** Whether people may register and sign in with a password. */
  readonly passwordSignIn: boolean
  /** How many proxies are in front, whose entries in `X-Forwarded-For` are believed: the address of who asks is counted from the right. */
  readonly proxies: number
  /** Connections of one address on which nobody has signed in; in all four times as many. */
  readonly strangersOfAddress: number
  /** Requests below `/api` that a person may make in a minute; an address may make twice as many. `null`: any number. */
  readonly requestsAMinute: number | null
  /** Tasks of one person that may run or wait to run at once. */
  readonly tasksAtOnce: number
  readonly runs: RunLimits
  /** How many agents may wait for their next message; 0: nothing is started ahead; `null`: as many as memory allows. */
  readonly warmAgents: number | null
  readonly budgets: BudgetConfig
  /** What a run, and a person in a day of UTC, may record; a day's `null`: as much as one likes. */
  readonly recording: { readonly runBytes: number; readonly dayBytes: number | null }
  readonly disk: DiskLimits
  /** What of a repository is checked out. */
  readonly checkout: { readonly entries: number; readonly bytes: number }
  /** Where `/metrics` is served; `null`: nowhere. */
  readonly metricsPort: number | null
  readonly metricsHost: string
  /** Where traces are sent, by OTLP over HTTP; `null`: nowhere. */
  readonly otlpEndpoint: string | null
  readonly logLevel: string
  /** Variables that are set and have no effect yet. */
  readonly unused: readonly string[]
}

/** What may be taken of the disk, in bytes. */
export interface DiskLimits {
  /** By mirrors and workspaces of a runner. */
  readonly budget: number
  /** By the workspace of one task. */
  readonly workspace: number
  /** By all workspaces of one project. */
  readonly project: number
  /** What stays free: the log must always find room. */
  readonly leastFree: number
}

/** What may be used of models; `null`: as much as one likes. Prices are US dollars for a million tokens, by how names of models begin. */
export interface BudgetConfig {
  readonly run: { readonly tokens: number | null; readonly dollars: number | null }
  readonly day: { readonly tokens: number | null; readonly dollars: number | null }
  readonly prices: Readonly<
    Record<
      string,
      {
        readonly input: number
        readonly output: number
        readonly cacheRead: number
        readonly cacheWrite: number
      }
    >
  >
}

/** How many runs a runner has, and how long things may take in one, in milliseconds. */
export interface RunLimits {
  readonly atOnce: number
  /** Nothing heard of an agent for so long means that nothing will be. */
  readonly silentMs: number
  readonly longestMs: number
  /** How long an agent waits in its box for the next message of its task; 0: not at all. */
  readonly idleMs: number
}

/** Faults of a configuration, one sentence each. */
export class BadConfig extends Error {
  override readonly name = 'BadConfig'
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** The variables, each with what `--help` says of it. A variable that is set to nothing counts as not set. */
const variables = {
  PORT: [port(8080), 'port of the product, or of the services that run apart (8080)'],
  CODEHOST_PORT: [port(8081), 'port of the local code host (8081)'],
  CODEHOST_HOST: [
    z.string().optional(),
    'address that the local code host listens on, which asks for no passwords: HOST where that is loopback',
  ],
  HOST: [z.string().default('127.0.0.1'), 'address to listen on (127.0.0.1)'],
  DATA_DIR: [z.string().default('./data'), 'folder of all data (./data)'],
  SERVICES: [
    z.string().optional(),
    'services to run, with commas; all by default: running them apart needs all three shared engines',
  ],
  COMMAND_URL: [address.optional(), 'where a gateway finds the command service, when it is apart'],
  QUERY_URL: [address.optional(), 'where a gateway finds the query service, when it is apart'],
  PUBLIC_URL: [address.optional(), 'where people reach the product, when it is not a loopback address'],
  MASTER_KEY: [
    key.optional(),
    '32 bytes in base64 or hex; made in DATA_DIR on first start; needed with MONGODB_URL',
  ],
  ALLOWED_USERS: [
    peopleOrEverybody.optional(),
    'who may sign in: logins at the code host with commas, ids as id:1001, or * for everybody',
  ],
  ALLOWED_ORGANIZATIONS: [
    organizations.default([]),
    'whose members may sign in: organizations at the code host with commas, or teams as acme/core',
  ],
  ADMINS: [
    people.default([]),
    'who may always sign in, and whom others are told to ask: logins with commas, or ids as id:1001',
  ],
  PASSWORD_SIGN_IN: [
    onOrOff.optional(),
    'sign-in with a password, 1 or 0; on only where the local code host and embedded engines serve',
  ],
  GITHUB_SERVER_URL: [address.default('https://github.com'), 'the code host (https://github.com)'],
  GITHUB_API_URL: [address.default('https://api.github.com'), 'its REST interface (https://api.github.com)'],
  GITHUB_CLIENT_ID: [
    z.string().optional(),
    'client id of the GitHub App; without it the local code host serves',
  ],
  GITHUB_CLIENT_SECRET: [z.string().optional(), 'client secret of the GitHub App'],
  GITHUB_APP_ID: [unused, 'no effect yet'],
  GITHUB_APP_PRIVATE_KEY: [unused, 'no effect yet'],
  GITHUB_APP_PRIVATE_KEY_FILE: [unused, 'no effect yet'],
  GITHUB_WEBHOOK_SECRET: [unused, 'no effect yet'],
  GITHUB_TOKEN: [unused, 'no effect yet'],
  EVENTSTORE_URL: [engine, 'EventStoreDB for the log, esdb://user:password@host:2113; else a SQLite file'],
  MONGODB_URL: [
    engine,
    'MongoDB for read models, blobs and keys, mongodb://user:password@host/flightdeck; else files',
  ],
  NATS_URL: [
    engine,
    'NATS with JetStream for jobs and hints, nats://user:password@host:4222; else in process',
  ],
  SANDBOX: [
    z
      .enum(['auto', 'bubblewrap', 'container', 'none'], {
        error: 'is auto, bubblewrap, container or none',
      })
      .default('auto'),
    'the sandbox agents run in: auto (bubblewrap, else a container engine), bubblewrap, container, or none at your own risk',
  ],
  ALLOW_WEAKER_BOX: [
    shortcomings.default([]),
    'what a sandbox may lack without stopping a real model, with commas: seccomp, user_namespaces',
  ],
  CONTAINER_HOST: [
    unixSocket.optional(),
    'socket of the container engine that makes sandboxes; else DOCKER_HOST, and where Docker and Podman usually listen',
  ],
  CONTAINER_IMAGE: [
    z.string().optional(),
    'image that container sandboxes are made of; without it one is built',
  ],
  CONTAINER_PATHS: [
    folders.default({}),
    'folders of a runner in a container, and where the engine has them: /data=/srv/flightdeck,/tmp=/srv/tmp',
  ],
  PRIVATE_EGRESS: [
    onOrOff.default(false),
    '1 lets projects list addresses of this machine and of private networks for their boxes',
  ],
  TRUST_PROXY: [
    count.default(0),
    'how many proxies are in front; the address of who asks is so far from the right in X-Forwarded-For (0)',
  ],
  STRANGERS_PER_ADDRESS: [
    count.min(1, { error: 'is at least 1' }).default(500),
    'connections of one address on which nobody has signed in, in all four times as many (500)',
  ],
  REQUESTS_PER_MINUTE: [
    count.default(6_000),
    'requests a person may make in a minute, an address twice as many; 0: any number (6000)',
  ],
  TASKS_AT_ONCE: [
    count.min(1, { error: 'is at least 1' }).default(20),
    'tasks of one person that may run or wait to run at once (20)',
  ],
  SILENT_AGENT_SECONDS: [
    count.min(1, { error: 'is at least 1' }).default(900),
    'an agent of which nothing is heard for so long is stopped (900)',
  ],
  RUN_SECONDS: [
    count.min(1, { error: 'is at least 1' }).default(7_200),
    'a turn or command that goes on for longer is stopped (7200)',
  ],
  RUNS_AT_ONCE: [count.min(1, { error: 'is at least 1' }).default(8), 'runs that a runner has at once (8)'],
  WORKSPACE_BUDGET_GB: [
    gigabytes(20),
    'disk that mirrors and workspaces of a runner may take, of 10^9 bytes (20)',
  ],
  RUN_OUTPUT_MB: [
    count.min(1, { error: 'is at least 1' }).default(64),
    'what is recorded of a run, terminal and chat, of 10^6 bytes: its beginning and its end (64)',
  ],
  DAY_OUTPUT_MB: [
    count.default(2_000),
    'what is recorded of all runs of a person in a day of UTC, then 1 MB a run; 0: any amount (2000)',
  ],
  WORKSPACE_GB: [
    gigabytes(5),
    'disk that the workspace of one task may take: a run that takes more is stopped (5)',
  ],
  PROJECT_DISK_GB: [
    gigabytes(10),
    'disk that all workspaces of one project may take before a new one is refused (10)',
  ],
  MIN_FREE_DISK_GB: [
    gigabytes(1),
    'disk that stays free: below it no workspace is made, and what grows most is stopped (1)',
  ],
  REPOSITORY_ENTRIES: [
    count.min(1, { error: 'is at least 1' }).default(500_000),
    'files and folders of a repository that is checked out (500000)',
  ],
  REPOSITORY_GB: [gigabytes(5), 'size of all files of a repository that is checked out (5)'],
  RUN_TOKENS: [count.default(0), 'tokens that a turn may use; 0: any number (0)'],
  RUN_DOLLARS: [dollars, 'US dollars that a turn may use, by MODEL_PRICES; 0: any amount (0)'],
  DAY_TOKENS: [count.default(0), 'tokens that a person may use in a day of UTC; 0: any number (0)'],
  DAY_DOLLARS: [dollars, 'US dollars that a person may use in a day, by MODEL_PRICES; 0: any amount (0)'],
  MODEL_PRICES: [
    prices.optional(),
    'US dollars for a million tokens, as JSON: {"claude-x": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}, by how names begin',
  ],
  IDLE_AGENT_SECONDS: [
    count.default(300),
    'an agent waits so long in its box for the next message; 0: it ends with its turn (300)',
  ],
  WARM_AGENTS: [
    count.optional(),
    'how many agents wait for their next message; 0: none, and nothing is started before it is needed (as many as fit into a quarter of the free memory)',
  ],
  METRICS_PORT: [anyPort.optional(), 'port of /metrics, for Prometheus; without it there are none'],
  METRICS_HOST: [z.string().default('127.0.0.1'), 'address to listen on for /metrics (127.0.0.1)'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    address.optional(),
    'where traces are sent, by OTLP over HTTP; without it there are none',
  ],
  LOG_LEVEL: [
    z.enum(logLevels, { error: 'is debug, info, warn, error or silent' }).default('warn'),
    'debug, info, warn, error or silent (warn)',
  ],
} as const satisfies Record<string, readonly [z.ZodType, string]>

/** What may be given in a file instead, named by `<NAME>_FILE`: secrets, and addresses with a password in them. */
const inFiles = [
  'MASTER_KEY',
  'GITHUB_CLIENT_SECRET',
  'EVENTSTORE_URL',
  'MONGODB_URL',
  'NATS_URL',
  ...agentSecrets,
]

type Variables = { [Name in keyof typeof variables]: z.output<(typeof variables)[Name][0]> }

/** The table of variables for `--help`. */
export function describeVariables(): string {
  const own = Object.entries(variables).map(([name, [, says]]) => [name, says] as const)
  const all = [...own, ...Object.entries(agentVariables)]
  const width = Math.max(...all.map(([name]) => name.length))
  const lines = all.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`)
  const files = `Instead of ${inFiles.join(', ')} a file that holds it may be named: MASTER_KEY_FILE, and so on.`
  return [...lines, '', files].join('\n')
}

/** Names the code host: accounts of two hosts never meet. */
export function codeHostName({ codeHost }: Pick<Config, 'codeHost'>): string {
  return codeHost.kind === 'github' ? new URL(codeHost.serverUrl).hostname : 'local'
}

/** Reads and checks the environment. Throws `BadConfig` with every fault there is. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = []
  const given = { ...env, ...secretsOfFiles(env, faults) }
  const values = Object.fromEntries(
    Object.entries(variables).map(([name, [schema]]) => {
      const parsed = schema.safeParse(given[name]?.trim() || undefined)
      if (!parsed.success) faults.push(`${name}: ${parsed.error.issues[0]?.message ?? 'is not valid'}.`)
      return [name, parsed.data]
    }),
    // Each value comes from the schema of its own name.
  ) as Variables
  const agents = readAgents(given, faults)
  const codeHost = codeHostOf(values, faults)
  const services = servicesOf(values.SERVICES, codeHost, faults)
  // What is there and not understood is not said to be missing as well.
  const atFault = new Set(faults.map(variableOf))
  const missing = faultsOfSharing(services, values).filter((fault) => !atFault.has(variableOf(fault)))
  faults.push(...missing, ...faultsOfEntry(services, values))
  if (values.PORT !== undefined && values.PORT === values.CODEHOST_PORT)
    faults.push('CODEHOST_PORT: is the same as PORT.')
  const isOpen = values.HOST !== undefined && !/^(localhost|::1|127(\.\d{1,3}){3})$/.test(values.HOST)
  if (isOpen && services.has('codehost') && values.CODEHOST_HOST === undefined)
    faults.push(
      'CODEHOST_HOST: is required because HOST is not a loopback address and the local code host asks for no passwords. 127.0.0.1 keeps it on this machine; any other address opens it to everyone who can reach that.',
    )
  for (const name of ['RUN_DOLLARS', 'DAY_DOLLARS'] as const)
    if (values[name] > 0 && values.MODEL_PRICES === undefined) faults.push(`${name}: needs MODEL_PRICES.`)
  if (faults.length > 0) throw new BadConfig(faults)
  return {
    services,
    engines: {
      eventStore: values.EVENTSTORE_URL ?? null,
      mongo: values.MONGODB_URL ?? null,
      nats: values.NATS_URL ?? null,
    },
    upstreams: { command: values.COMMAND_URL ?? null, query: values.QUERY_URL ?? null },
    port: values.PORT,
    codeHostPort: values.CODEHOST_PORT,
    codeHostHost: values.CODEHOST_HOST ?? values.HOST,
    host: values.HOST,
    dataDir: resolve(values.DATA_DIR),
    publicUrl: values.PUBLIC_URL ?? null,
    masterKey: values.MASTER_KEY,
    codeHost,
    agents,
    path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    environment: env,
    sandbox: values.SANDBOX,
    containers: {
      sockets: values.CONTAINER_HOST === undefined ? engineSockets(env) : [values.CONTAINER_HOST],
      image: values.CONTAINER_IMAGE ?? null,
      buildArguments: proxiesOf(env),
      shared: values.CONTAINER_PATHS,
    },
    weakerBox: values.ALLOW_WEAKER_BOX,
    privateEgress: values.PRIVATE_EGRESS,
    allowed: allowListOf(values),
    passwordSignIn: values.PASSWORD_SIGN_IN ?? isEmbedded(values),
    proxies: values.TRUST_PROXY,
    strangersOfAddress: values.STRANGERS_PER_ADDRESS,
    requestsAMinute: values.REQUESTS_PER_MINUTE === 0 ? null : values.REQUESTS_PER_MINUTE,
    tasksAtOnce: values.TASKS_AT_ONCE,
    recording: {
      runBytes: values.RUN_OUTPUT_MB * 1e6,
      dayBytes: values.DAY_OUTPUT_MB === 0 ? null : values.DAY_OUTPUT_MB * 1e6,
    },
    disk: {
      budget: values.WORKSPACE_BUDGET_GB,
      workspace: values.WORKSPACE_GB,
      project: values.PROJECT_DISK_GB,
      leastFree: values.MIN_FREE_DISK_GB,
    },
    checkout: { entries: values.REPOSITORY_ENTRIES, bytes: values.REPOSITORY_GB },
    budgets: {
      run: { tokens: values.RUN_TOKENS || null, dollars: values.RUN_DOLLARS || null },
      day: { tokens: values.DAY_TOKENS || null, dollars: values.DAY_DOLLARS || null },
      prices: values.MODEL_PRICES ?? {},
    },
    runs: {
      silentMs: values.SILENT_AGENT_SECONDS * 1_000,
      longestMs: values.RUN_SECONDS * 1_000,
      idleMs: values.IDLE_AGENT_SECONDS * 1_000,
      atOnce: values.RUNS_AT_ONCE,
    },
    warmAgents: values.WARM_AGENTS ?? null,
    metricsPort: values.METRICS_PORT ?? null,
    metricsHost: values.METRICS_HOST,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '') ?? null,
    logLevel: values.LOG_LEVEL,
    unused: Object.entries(variables).flatMap(([name, [schema]]) =>
      schema === unused && env[name] ? [name] : [],
    ),
  }
}

/** The product as it is without a word said: engines of its own, and the local code host. */
function isEmbedded(values: Variables): boolean {
  return [values.EVENTSTORE_URL, values.MONGODB_URL, values.NATS_URL, values.GITHUB_CLIENT_ID].every(
    (value) => value === undefined,
  )
}

function codeHostOf(values: Variables, faults: string[]): CodeHostConfig {
  const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = values
  if (clientId === undefined && clientSecret === undefined) return { kind: 'local' }
  if (clientId === undefined) faults.push('GITHUB_CLIENT_ID: is required with GITHUB_CLIENT_SECRET.')
  if (clientSecret === undefined) faults.push('GITHUB_CLIENT_SECRET: is required with GITHUB_CLIENT_ID.')
  const serverUrl = values.GITHUB_SERVER_URL?.replace(/\/+$/, '')
  const apiUrl = values.GITHUB_API_URL?.replace(/\/+$/, '')
  return { kind: 'github', serverUrl, apiUrl, clientId: clientId ?? '', clientSecret: clientSecret ?? '' }
}

/** The secrets that lie in files. Faults never show what is in one. */
function secretsOfFiles(
  env: Readonly<Record<string, string | undefined>>,
  faults: string[],
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of inFiles) {
    const file = env[`${name}_FILE`]?.trim()
    if (!file) continue
    if (env[name]?.trim()) {
      faults.push(`${name}_FILE: ${name} is set as well; set only one of them.`)
      continue
    }
    try {
      found[name] = readFileSync(file, 'utf8').trim()
      if (found[name] === '') faults.push(`${name}_FILE: ${file} is empty.`)
    } catch {
      faults.push(`${name}_FILE: ${file} cannot be read.`)
    }
  }
  return found
}

/** All, unless some are named; the local code host only where no other is named. */
function servicesOf(
  listed: string | undefined,
  codeHost: CodeHostConfig,
  faults: string[],
): ReadonlySet<ServiceName> {
  const names = (listed ?? serviceNames.join(',')).split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !serviceNames.some((known) => known === name))
  if (unknown.length > 0) {
    faults.push(`SERVICES: ${unknown.join(', ')}: there are ${serviceNames.join(', ')}.`)
    return new Set(serviceNames)
  }
  const services = new Set(serviceNames.filter((name) => names.includes(name)))
  // One process with its own engines is the whole product, named in full or not.
  if (codeHost.kind === 'local' && runsAll(services)) services.add('codehost')
  if (codeHost.kind === 'github') services.delete('codehost')
  if (services.size === 0)
    faults.push('SERVICES: nothing is left to run: the local code host is off when GITHUB_CLIENT_ID is set.')
  return services
}

function runsAll(services: ReadonlySet<ServiceName>): boolean {
  return serviceNames.every((name) => name === 'codehost' || services.has(name))
}

/** The variable that a fault begins with, given by itself or in a file. */
function variableOf(fault: string): string {
  return fault.slice(0, fault.indexOf(':')).replace(/_FILE$/, '')
}

/** What services that run apart need, and what an engine that others share needs. */
function faultsOfSharing(services: ReadonlySet<ServiceName>, values: Variables): string[] {
  const faults: string[] = []
  if (values.MONGODB_URL !== undefined && values.MASTER_KEY === undefined)
    faults.push('MASTER_KEY: is required with MONGODB_URL, because the keys there are sealed with it.')
  if (runsAll(services) || services.size === 0) return faults
  for (const name of ['EVENTSTORE_URL', 'MONGODB_URL', 'NATS_URL'] as const) {
    if (values[name] === undefined) faults.push(`${name}: is required when SERVICES run separately.`)
  }
  if (!services.has('gateway')) return faults
  for (const [service, name] of [
    ['command', 'COMMAND_URL'],
    ['query', 'QUERY_URL'],
  ] as const) {
    if (!services.has(service) && values[name] === undefined)
      faults.push(`${name}: is required by a gateway without the ${service} service.`)
  }
  return faults
}

/** Where nobody is named, whoever can reach the product may sign in. */
function allowListOf({ ALLOWED_USERS, ALLOWED_ORGANIZATIONS, ADMINS }: Variables): AllowList {
  const users = ALLOWED_USERS === '*' ? [] : (ALLOWED_USERS ?? [])
  const isNobodyNamed = users.length + ALLOWED_ORGANIZATIONS.length + ADMINS.length === 0
  return {
    everybody: ALLOWED_USERS === '*' || isNobodyNamed,
    users,
    organizations: ALLOWED_ORGANIZATIONS,
    admins: ADMINS,
  }
}

/** On loopback the machine's own people come; whoever else can reach the product must be named, or let in on purpose. */
function faultsOfEntry(services: ReadonlySet<ServiceName>, values: Variables): string[] {
  const isAsked = services.has('gateway') || services.has('runner')
  const isSaid =
    values.ALLOWED_USERS !== undefined ||
    (values.ALLOWED_ORGANIZATIONS ?? []).length > 0 ||
    (values.ADMINS ?? []).length > 0
  const reached = reachedBy(values)
  if (!isAsked || isSaid || reached === undefined) return []
  return [
    `ALLOWED_USERS: is required (or ALLOWED_ORGANIZATIONS or ADMINS) because ${reached}. List who may sign in, or set ALLOWED_USERS=* to allow everyone with an account on the code host.`,
  ]
}

/** By what the product can be reached from elsewhere than this machine. */
function reachedBy({ HOST, PUBLIC_URL, TRUST_PROXY }: Variables): string | undefined {
  if (HOST !== undefined && !isLoopback(HOST)) return `HOST is ${HOST}`
  if (PUBLIC_URL !== undefined && !isLoopback(new URL(PUBLIC_URL).hostname))
    return `PUBLIC_URL is ${PUBLIC_URL}`
  return TRUST_PROXY > 0 ? 'TRUST_PROXY says that a proxy is in front' : undefined
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
