/** The only place that reads the environment: everything is validated before anything starts. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { engineSockets, proxiesOf, type allowedShortcomings } from './values.ts'
import { inFiles, variables, type ServiceName, type Variables } from './variables.ts'
import { entryFaults, portFaults, priceFaults, servicesOf, sharingFaults } from './checks.ts'

import { codeHostOf, isGitHubNamed, isTokenUnused, type CodeHostConfig } from './codeHost.ts'
import { readAgents, type AgentsConfig } from './agents.ts'
import type { AllowList } from '../access/allowList.ts'

/** Sandbox features that may be missing, if the operator allows it, without refusing to run real models. */
export type AllowedShortcoming = (typeof allowedShortcomings)[number]

/** The container engine for sandboxes, used when bubblewrap is not. */
export interface ContainersConfig {
  /** Sockets on which it may listen, in the order in which they are tried. */
  readonly sockets: readonly string[]
  /** `null`: our own image, which is built if the engine does not have it. */
  readonly image: string | null
  /** The proxies of this process, for building the image. */
  readonly buildArguments: Readonly<Record<string, string>>
  /** Folders of this process, each with its path on the engine's machine; empty when both see the same paths. */
  readonly shared: Readonly<Record<string, string>>
}

/** The engines behind the ports: the address of one that may be shared, or `null` for the embedded one. */
export interface EngineUrls {
  readonly eventStore: string | null
  readonly mongo: string | null
  readonly nats: string | null
}

export interface Config {
  /** The services that this process runs. */
  readonly services: ReadonlySet<ServiceName>
  readonly engines: EngineUrls
  /** The addresses of services that run outside of the gateway's process. */
  readonly upstreams: { readonly command: string | null; readonly query: string | null }
  /** The port of this process: of the product itself for a gateway, otherwise for calls by other services. */
  readonly port: number
  readonly codeHostPort: number
  readonly codeHostHost: string
  readonly host: string
  readonly dataDir: string
  readonly publicUrl: string | null
  readonly masterKey: string | undefined
  readonly codeHost: CodeHostConfig
  readonly following: FollowingConfig
  readonly agents: AgentsConfig
  /** The path on which programs are searched for. */
  readonly path: string
  /** The operator's own environment, for programs that act on the operator's behalf: cloning `--repo`. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** `auto`: bubblewrap or, without it, an available container engine. */
  readonly sandbox: 'auto' | 'bubblewrap' | 'container' | 'none'
  readonly containers: ContainersConfig
  readonly weakerSandbox: readonly AllowedShortcoming[]
  /** Whether sandboxes may reach addresses of this machine and of private networks that their project lists as numeric addresses. */
  readonly privateEgress: boolean
  /** Who may sign in. */
  readonly allowed: AllowList
  /** Whether people may register and sign in with a password. */
  readonly passwordSignIn: boolean
  /** The number of trusted proxies in front: the client's address is taken from `X-Forwarded-For`, counted from the right. */
  readonly proxies: number
  /** Maximum connections per address without a sign-in; four times as many in total. */
  readonly strangersOfAddress: number
  /** Maximum requests below `/api` per person and minute; an address may make twice as many. `null`: unlimited. */
  readonly requestsAMinute: number | null
  /** Maximum tasks of one person that run or are queued at once. */
  readonly tasksAtOnce: number
  readonly runs: RunLimits
  /** How many agents may wait for their next message; 0: none is started ahead; `null`: limited by memory. */
  readonly warmAgents: number | null
  readonly budgets: BudgetConfig
  /** Maximum recorded output per run, and per person and day (UTC); `null` for a day: unlimited. */
  readonly recording: { readonly runBytes: number; readonly dayBytes: number | null }
  readonly disk: DiskLimits
  /** Limits on what is checked out of a repository. */
  readonly checkout: { readonly entries: number; readonly bytes: number }
  readonly seals: SealsConfig
  /** The port of `/metrics`; `null`: not served. */
  readonly metricsPort: number | null
  readonly metricsHost: string
  /** The endpoint for traces, by OTLP over HTTP; `null`: none are sent. */
  readonly otlpEndpoint: string | null
  /** Whether traces also follow the conventions for generative AI. */
  readonly genAiTraces: boolean
  /** Whether git notes with the origin of lines are pushed with commits. */
  readonly originNotes: boolean
  /** The signer of the commits that we make, and the key; `null`: they are not signed. */
  readonly commitSigner: { readonly key: string; readonly name: string; readonly email: string } | null
  readonly logLevel: string
  /** Variables that are set but have no effect. */
  readonly unused: readonly string[]
}

/** How pull requests are followed at the code host. */
export interface FollowingConfig {
  /** The webhook secret and the previous one; `null`: none. */
  readonly webhookSecret: string | null
  readonly webhookSecretBefore: string | null
  /** Poll interval for pull requests whose page is open. */
  readonly everyMs: number
  /** How long to wait for a review to be complete. */
  readonly gatherMs: number
}

/** How the log is sealed. */
export interface SealsConfig {
  /** `null`: the log is not sealed. */
  readonly everyMs: number | null
  /** A file outside of the database, to which seals are written. */
  readonly file: string
  /** A git repository that gets a commit for each seal, and the address of a witness; `null`: none. */
  readonly git: string | null
  readonly witness: string | null
}

/** Limits on disk use, in bytes. */
export interface DiskLimits {
  /** By mirrors and workspaces of a runner. */
  readonly budget: number
  /** By the workspace of one task. */
  readonly workspace: number
  /** By all workspaces of one project. */
  readonly project: number
  /** Free space that must remain, because the log must always be able to grow. */
  readonly leastFree: number
}

/** Limits on model usage; `null`: unlimited. Prices are in US dollars per million tokens, by prefix of model names. */
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

/** The number of runs per runner, and time limits within a run, in milliseconds. */
export interface RunLimits {
  readonly atOnce: number
  /** After this long without output, an agent is considered stuck. */
  readonly silentMs: number
  readonly longestMs: number
  /** How long after a temporary fault of the model a turn asks it once more; 0: never. */
  readonly modelRetryMs: number
  /** How long an agent waits in its sandbox for the next message of its task; 0: not at all. */
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

/** The name of the code host, which keeps accounts of different hosts apart. */
export function codeHostName({ codeHost }: Pick<Config, 'codeHost'>): string {
  return codeHost.kind === 'github' ? new URL(codeHost.serverUrl).hostname : 'local'
}

/** The origins of people's pictures: GitHub has a separate host for them, an enterprise server may have one below its own name. */
export function pictureOrigins({
  codeHost,
  codeHostPort,
}: Pick<Config, 'codeHost' | 'codeHostPort'>): readonly string[] {
  if (codeHost.kind === 'local') return [`http://localhost:${codeHostPort}`]
  const { origin, protocol, host, hostname } = new URL(codeHost.serverUrl)
  if (hostname === 'github.com') return ['https://avatars.githubusercontent.com']
  return [origin, `${protocol}//avatars.${host}`]
}

/** The token that replaces the App in single-user mode. */
export function tokenOf({ codeHost }: Pick<Config, 'codeHost'>): string | undefined {
  return codeHost.kind === 'github' ? codeHost.token : undefined
}

/** Reads and validates the environment. Throws `BadConfig` with all faults. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = []
  const given = { ...env, ...secretsOfFiles(env, faults) }
  const values = Object.fromEntries(
    Object.entries(variables).map(([name, [schema]]) => {
      const parsed = schema.safeParse(given[name]?.trim() || undefined)
      if (!parsed.success) faults.push(`${name}: ${parsed.error.issues[0]?.message ?? 'is not valid'}.`)
      return [name, parsed.data]
    }),
    // Each value comes from the schema of the same name.
  ) as Variables
  const agents = readAgents(given, faults)
  const codeHost = codeHostOf(values, faults)
  const services = servicesOf(values.SERVICES, codeHost, faults)
  // A variable with a fault of its own is not also reported as missing.
  const atFault = new Set(faults.map(variableOf))
  const missing = sharingFaults(services, values).filter((fault) => !atFault.has(variableOf(fault)))
  faults.push(...missing, ...entryFaults(services, values))
  faults.push(...portFaults(services, values), ...priceFaults(values), ...signerFaults(values, atFault))
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
    following: {
      webhookSecret: values.GITHUB_WEBHOOK_SECRET ?? null,
      webhookSecretBefore: values.GITHUB_WEBHOOK_SECRET_BEFORE ?? null,
      everyMs: values.GITHUB_POLL_SECONDS * 1_000,
      gatherMs: values.FEEDBACK_GATHER_SECONDS * 1_000,
    },
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
    weakerSandbox: values.ALLOW_WEAKER_SANDBOX,
    privateEgress: values.PRIVATE_EGRESS,
    allowed: allowListOf(values),
    passwordSignIn: values.PASSWORD_SIGN_IN ?? isEmbedded(values),
    proxies: values.TRUST_PROXY,
    strangersOfAddress: values.STRANGERS_PER_ADDRESS,
    requestsAMinute: values.REQUESTS_PER_MINUTE === 0 ? null : values.REQUESTS_PER_MINUTE,
    tasksAtOnce: values.TASKS_AT_ONCE,
    warmAgents: values.WARM_AGENTS ?? null,
    ...limitsOf(values),
    seals: {
      everyMs: values.SEAL_SECONDS === 0 ? null : values.SEAL_SECONDS * 1_000,
      file: resolve(values.SEALS_FILE ?? join(values.DATA_DIR, 'seals.ndjson')),
      git: values.SEAL_GIT ?? null,
      witness: values.SEAL_WITNESS ?? null,
    },
    originNotes: values.ORIGIN_NOTES,
    commitSigner: signerOf(values),
    metricsPort: values.METRICS_PORT ?? null,
    metricsHost: values.METRICS_HOST,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '') ?? null,
    genAiTraces: values.OTEL_GENAI,
    logLevel: values.LOG_LEVEL,
    unused: isTokenUnused(values) ? ['GITHUB_TOKEN'] : [],
  }
}

function signerOf({ COMMIT_SIGNING_KEY: key, COMMIT_SIGNER: signer }: Variables): Config['commitSigner'] {
  return key === undefined || signer === undefined ? null : { key, ...signer }
}

/** Both are needed: the code host counts a signature as the committer's. */
function signerFaults(values: Variables, atFault: ReadonlySet<string>): readonly string[] {
  const both = ['COMMIT_SIGNING_KEY', 'COMMIT_SIGNER'] as const
  const missing = both.filter((name) => values[name] === undefined && !atFault.has(name))
  if (missing.length === 0 && values.SANDBOX === 'none')
    return ['COMMIT_SIGNING_KEY: does not go with SANDBOX=none, since agents could read it.']
  if (missing.length !== 1 || both.some((name) => atFault.has(name))) return []
  return [`${missing[0]}: is missing; commits are signed with both ${both.join(' and ')}.`]
}

type Limits = Pick<Config, 'recording' | 'disk' | 'checkout' | 'budgets' | 'runs'>

function limitsOf(values: Variables): Limits {
  return {
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
      modelRetryMs: values.MODEL_RETRY_SECONDS * 1_000,
      idleMs: values.IDLE_AGENT_SECONDS * 1_000,
      atOnce: values.RUNS_AT_ONCE,
    },
  }
}

/** Whether the product runs as it does by default: with embedded engines and the local code host. */
function isEmbedded(values: Variables): boolean {
  const { EVENTSTORE_URL, MONGODB_URL, NATS_URL } = values
  return !isGitHubNamed(values) && [EVENTSTORE_URL, MONGODB_URL, NATS_URL].every((url) => url === undefined)
}

/** Secrets that are given in files. Faults never contain a file's content. */
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

/** The variable that a fault is about, whether given directly or in a file. */
function variableOf(fault: string): string {
  return fault.slice(0, fault.indexOf(':')).replace(/_FILE$/, '')
}

/** If nobody is listed, everybody who can reach the product may sign in. */
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
