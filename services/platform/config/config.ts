/** The product's configuration, read from the environment. Everything is validated before anything starts. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { engineSockets, proxiesOf, type allowedShortcomings, type toolchainNames } from './valueTypes.ts'
import { inFiles, variables, type ServiceName, type Variables } from './variables.ts'
import { entryFaults, portFaults, previewFaults, priceFaults, servicesOf, sharingFaults } from './checks.ts'

import { codeHostOf, isGitHubNamed, isTokenUnused, type CodeHostConfig } from './codeHost.ts'
import { readAgents, type AgentsConfig } from './agents.ts'
import type { AllowList } from '../access/allowList.ts'

/** A feature of the sandbox that the operator can allow to be missing. If it is missing and not allowed to be, no real model runs there. */
export type AllowedShortcoming = (typeof allowedShortcomings)[number]

export type ToolchainName = (typeof toolchainNames)[number]

export type Config = Readonly<ReturnType<typeof configOf> & ReturnType<typeof limitsOf>>
export type RunLimits = Config['runs']
export type DiskLimits = Config['disk']
export type BudgetConfig = Config['budgets']

type Environment = Readonly<Record<string, string | undefined>>

/** Thrown for a configuration with faults, one sentence each. */
export class BadConfig extends Error {
  override readonly name = 'BadConfig'
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** The name of the code host, which keeps accounts of different hosts apart. */
export function codeHostName({ codeHost }: Pick<Config, 'codeHost'>): string {
  return codeHost.kind === 'github' ? new URL(codeHost.serverUrl).hostname : 'local'
}

/** The token that replaces the App in single-user mode. */
export function tokenOf({ codeHost }: Pick<Config, 'codeHost'>): string | undefined {
  return codeHost.kind === 'github' ? codeHost.token : undefined
}

/** Reads and validates the environment. Throws `BadConfig` with all faults. */
export function readConfig(env: Environment): Config {
  const faults: string[] = []
  const given = { ...env, ...secretsOfFiles(env, faults) }
  const values = Object.fromEntries(
    Object.entries(variables).map(([name, [schema]]) => {
      const parsed = schema.safeParse(given[name]?.trim() || undefined)
      if (!parsed.success) faults.push(`${name}: ${parsed.error.issues[0]?.message ?? 'is not valid'}.`)
      return [name, parsed.data]
    }),
    // The cast holds because each value comes from the schema of the same name.
  ) as Variables
  const agents = readAgents(given, faults)
  const codeHost = codeHostOf(values, faults)
  const services = servicesOf(values.SERVICES, codeHost, faults)
  // A variable with an invalid value is not also reported as missing.
  const atFault = new Set(faults.map(variableOf))
  const missing = sharingFaults(services, values).filter((fault) => !atFault.has(variableOf(fault)))
  faults.push(...missing, ...entryFaults(services, values))
  faults.push(...portFaults(services, values), ...priceFaults(values), ...signerFaults(values, atFault))
  if (!atFault.has('PREVIEW_HOST') && !atFault.has('PUBLIC_URL')) faults.push(...previewFaults(values))
  if (faults.length > 0) throw new BadConfig(faults)
  return { ...configOf({ values, services, codeHost, agents, env }), ...limitsOf(values) }
}

interface Read {
  readonly values: Variables
  readonly services: ReadonlySet<ServiceName>
  readonly codeHost: CodeHostConfig
  readonly agents: AgentsConfig
  readonly env: Environment
}

function configOf({ values, services, codeHost, agents, env }: Read) {
  return {
    services,
    /** The engines behind the ports: the address of a shared engine, or `null` for the embedded one. */
    engines: {
      eventStore: values.EVENTSTORE_URL ?? null,
      mongo: values.MONGODB_URL ?? null,
      nats: values.NATS_URL ?? null,
    },
    /** The addresses of services that run outside of the gateway's process. */
    upstreams: { command: values.COMMAND_URL ?? null, query: values.QUERY_URL ?? null },
    /** The port of this process: of the product itself if it has the gateway, otherwise for calls by other services. */
    port: values.PORT,
    codeHostPort: values.CODEHOST_PORT,
    codeHostHost: values.CODEHOST_HOST ?? (services.has('codehost') ? values.HOST : '127.0.0.1'),
    host: values.HOST,
    dataDir: resolve(values.DATA_DIR),
    publicUrl: values.PUBLIC_URL ?? null,
    /** The host name below which previews are served; `null`: below `localhost`, if served at all. */
    previewHost: values.PREVIEW_HOST ?? null,
    masterKey: values.MASTER_KEY,
    codeHost,
    following: {
      webhookSecret: values.GITHUB_WEBHOOK_SECRET ?? null,
      webhookSecretBefore: values.GITHUB_WEBHOOK_SECRET_BEFORE ?? null,
      /**
       * The interval, in milliseconds, at which a pull request is read while a person has the client open. Other pull requests are read a tenth as
       * often.
       */
      everyMs: values.GITHUB_POLL_SECONDS * 1_000,
      /** How long to wait, in milliseconds, for the rest of a review after its first part was read. */
      gatherMs: values.FEEDBACK_GATHER_SECONDS * 1_000,
    },
    agents,
    path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    /** The operator's own environment, for programs that act on the operator's behalf, such as git when it clones the repository of `--repo`. */
    environment: env,
    /** `auto`: bubblewrap or, if that is not available, a container engine. */
    sandbox: values.SANDBOX,
    /** The container engine for sandboxes that do not use bubblewrap. */
    containers: {
      /** Sockets of container engines, in the order in which they are tried. */
      sockets: values.CONTAINER_HOST === undefined ? engineSockets(env) : [values.CONTAINER_HOST],
      /** The image for sandboxes; `null`: our own image, which is built if the engine does not have it. */
      image: values.CONTAINER_IMAGE ?? null,
      /** The proxies of this process, for building the image. */
      buildArguments: proxiesOf(env),
      /** Folders of this process, each with its path on the engine's machine; empty when process and engine see the same paths. */
      shared: values.CONTAINER_PATHS,
    },
    weakerSandbox: values.ALLOW_WEAKER_SANDBOX,
    /** The toolchains of this machine that sandboxes can use although they are outside of the system's folders. */
    toolchains: values.TOOLCHAINS,
    /** Whether sandboxes, model keys and MCP servers may use `localhost`, and numeric addresses of this machine and of private networks. */
    privateEgress: values.PRIVATE_EGRESS.inNumbers,
    /** The hosts on private networks that projects may list by name. */
    privateHosts: values.PRIVATE_EGRESS.names,
    allowed: allowListOf(values),
    /** Whether people may register and sign in with a password. */
    passwordSignIn: values.PASSWORD_SIGN_IN ?? isEmbedded(values),
    /** The number of trusted proxies in front of the product. The client's address is the entry of `X-Forwarded-For` at this place from the right. */
    proxies: values.TRUST_PROXY,
    /** The most connections per address on which nobody has signed in; four times as many in total. */
    strangersOfAddress: values.STRANGERS_PER_ADDRESS,
    /** The most requests below `/api` per person and minute; an address may make twice as many. `null`: unlimited. */
    requestsAMinute: values.REQUESTS_PER_MINUTE || null,
    /** The most tasks of one person that run or are queued at once. */
    tasksAtOnce: values.TASKS_AT_ONCE,
    /** The most agents of a runner that wait in sandboxes for a message; 0: none; `null`: as many as fit into a quarter of the free memory. */
    warmAgents: values.WARM_AGENTS ?? null,
    seals: {
      /** The time from one attempt to seal the log to the next; `null`: the log is not sealed. */
      everyMs: values.SEAL_SECONDS * 1_000 || null,
      /** A file outside of the database, to which seals are written. */
      file: resolve(values.SEALS_FILE ?? join(values.DATA_DIR, 'seals.ndjson')),
      /** A git repository to which seals are pushed as commits; `null` for none. */
      git: values.SEAL_GIT ?? null,
      /** The address of a witness; `null` for none. */
      witness: values.SEAL_WITNESS ?? null,
    },
    /** Whether git notes with the origin of lines are pushed with commits. */
    originNotes: values.ORIGIN_NOTES,
    /** The signer of our commits, and the key; `null`: commits are not signed. */
    commitSigner: signerOf(values),
    /** The port of `/metrics`; `null`: metrics are not served. */
    metricsPort: values.METRICS_PORT ?? null,
    metricsHost: values.METRICS_HOST,
    /** The endpoint to which traces are sent, by OTLP over HTTP; `null`: none are sent. */
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '') ?? null,
    /** Whether traces also follow the conventions for generative AI. */
    genAiTraces: values.OTEL_GENAI,
    logLevel: values.LOG_LEVEL,
    /** Variables that are set but have no effect. */
    unused: isTokenUnused(values) ? ['GITHUB_TOKEN'] : [],
  }
}

function signerOf({ COMMIT_SIGNING_KEY: key, COMMIT_SIGNER: signer }: Variables) {
  return key === undefined || signer === undefined ? null : { key, ...signer }
}

/** Faults about signing commits. Both variables are needed, because the code host counts a signature as the committer's. */
function signerFaults(values: Variables, atFault: ReadonlySet<string>): readonly string[] {
  const both = ['COMMIT_SIGNING_KEY', 'COMMIT_SIGNER'] as const
  const missing = both.filter((name) => values[name] === undefined && !atFault.has(name))
  if (missing.length === 0 && values.SANDBOX === 'none')
    return ['COMMIT_SIGNING_KEY: does not go with SANDBOX=none, since agents could read it.']
  if (missing.length !== 1 || both.some((name) => atFault.has(name))) return []
  return [`${missing[0]}: is missing; commits are signed with both ${both.join(' and ')}.`]
}

function limitsOf(values: Variables) {
  return {
    /** The most bytes of output that are recorded per run, and per person and day (UTC). `null` for a day: unlimited. */
    recording: { runBytes: values.RUN_OUTPUT_MB * 1e6, dayBytes: values.DAY_OUTPUT_MB * 1e6 || null },
    /** Limits on disk use, in bytes. */
    disk: {
      /** The most bytes that mirrors, workspaces and kept setups of a runner may use. */
      budget: values.WORKSPACE_BUDGET_GB,
      workspace: values.WORKSPACE_GB,
      project: values.PROJECT_DISK_GB,
      /** The free space that must remain, because the log must always be able to grow. */
      leastFree: values.MIN_FREE_DISK_GB,
    },
    checkout: { entries: values.REPOSITORY_ENTRIES, bytes: values.REPOSITORY_GB },
    /** Limits on model usage; `null`: unlimited. Prices are in US dollars per million tokens, by prefix of model names. */
    budgets: {
      run: { tokens: values.RUN_TOKENS || null, dollars: values.RUN_DOLLARS || null },
      day: { tokens: values.DAY_TOKENS || null, dollars: values.DAY_DOLLARS || null },
      prices: values.MODEL_PRICES ?? {},
    },
    /** How long runs may go on once their runner is told to stop, in milliseconds. */
    drainMs: values.DRAIN_SECONDS * 1_000,
    /** The number of runs per runner, and time limits within a run, in milliseconds. */
    runs: {
      atOnce: values.RUNS_AT_ONCE,
      /** After this time without output, an agent counts as stuck. */
      silentMs: values.SILENT_AGENT_SECONDS * 1_000,
      longestMs: values.RUN_SECONDS * 1_000,
      /** How long an agent waits for a person's answer. */
      questionMs: values.QUESTION_HOURS * 3_600_000,
      /** How long a turn waits, after a temporary fault of the model, before it asks the model once more; 0: it does not ask again. */
      modelRetryMs: values.MODEL_RETRY_SECONDS * 1_000,
      /** How long a turn waits for the project's services to be ready. */
      serviceReadyMs: values.SERVICE_READY_SECONDS * 1_000,
      /** How long an agent waits in its sandbox for the next message of its task; 0 for not at all. */
      idleMs: values.IDLE_AGENT_SECONDS * 1_000,
    },
  }
}

/** Whether the product runs as it does by default: with embedded engines and the local code host. */
function isEmbedded(values: Variables): boolean {
  const { EVENTSTORE_URL, MONGODB_URL, NATS_URL } = values
  return !isGitHubNamed(values) && [EVENTSTORE_URL, MONGODB_URL, NATS_URL].every((url) => url === undefined)
}

/** Secrets that are given in files. Faults never contain the content of a file. */
function secretsOfFiles(env: Environment, faults: string[]): Readonly<Record<string, string>> {
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

/** The variable that a fault is about, whether its value was given directly or in a file (`…_FILE`). */
function variableOf(fault: string): string {
  return fault.slice(0, fault.indexOf(':')).replace(/_FILE$/, '')
}

/** The list of people who may sign in. If it is empty, everybody who can reach the product may sign in. */
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
