/** The one place that reads the environment: everything is checked at once, before anything starts. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { engineSockets, proxiesOf, type allowedShortcomings } from './values.ts'
import { inFiles, variables, type ServiceName, type Variables } from './variables.ts'
import { entryFaults, portFaults, priceFaults, servicesOf, sharingFaults } from './checks.ts'

import { codeHostOf, isGitHubNamed, isTokenUnused, type CodeHostConfig } from './codeHost.ts'
import { readAgents, type AgentsConfig } from './agents.ts'
import type { AllowList } from '../access/allowList.ts'

/** What a sandbox may lack without stopping a real model, by the operator's word. */
export type AllowedShortcoming = (typeof allowedShortcomings)[number]

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
  readonly following: FollowingConfig
  readonly agents: AgentsConfig
  /** Where programs are looked for. */
  readonly path: string
  /** The operator's own environment, for programs that act for the operator: cloning what `--repo` names. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** `auto`: bubblewrap, else a container engine that is there. */
  readonly sandbox: 'auto' | 'bubblewrap' | 'container' | 'none'
  readonly containers: ContainersConfig
  readonly weakerSandbox: readonly AllowedShortcoming[]
  /** Whether a project's sandboxes may reach addresses of this machine and of private networks that the project lists in numbers. */
  readonly privateEgress: boolean
  /** Who may sign in. */
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
  readonly seals: SealsConfig
  /** Where `/metrics` is served; `null`: nowhere. */
  readonly metricsPort: number | null
  readonly metricsHost: string
  /** Where traces are sent, by OTLP over HTTP; `null`: nowhere. */
  readonly otlpEndpoint: string | null
  /** Whether traces also follow the conventions for generative AI. */
  readonly genAiTraces: boolean
  /** Whether git notes with the origin of lines are pushed beside commits. */
  readonly originNotes: boolean
  /** Who signs the commits that are made, and with which key; `null`: nobody. */
  readonly commitSigner: { readonly key: string; readonly name: string; readonly email: string } | null
  readonly logLevel: string
  /** Variables that are set and have no effect yet. */
  readonly unused: readonly string[]
}

/** How pull requests are followed at the code host. */
export interface FollowingConfig {
  /** The secret of webhooks, and the one before; `null`: none. */
  readonly webhookSecret: string | null
  readonly webhookSecretBefore: string | null
  /** Poll interval for pull requests whose page is open. */
  readonly everyMs: number
  /** How long a review is awaited to be whole. */
  readonly gatherMs: number
  /** Whether the local code host tells by webhooks what happens. */
  readonly localWebhooks: boolean
}

/** How the log is sealed. */
export interface SealsConfig {
  /** `null`: not at all. */
  readonly everyMs: number | null
  /** The file outside of the database. */
  readonly file: string
  /** A git repository that gets a commit for each seal, and the address of a witness; `null`: none. */
  readonly git: string | null
  readonly witness: string | null
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
  /** How long after a passing fault of the model a turn asks it once more; 0: it does not. */
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

/** Names the code host: accounts of two hosts never meet. */
export function codeHostName({ codeHost }: Pick<Config, 'codeHost'>): string {
  return codeHost.kind === 'github' ? new URL(codeHost.serverUrl).hostname : 'local'
}

/** Where the code host has the pictures of people: GitHub has a host for them, a server of an enterprise may have one below its own name. */
export function pictureOrigins({
  codeHost,
  codeHostPort,
}: Pick<Config, 'codeHost' | 'codeHostPort'>): readonly string[] {
  if (codeHost.kind === 'local') return [`http://localhost:${codeHostPort}`]
  const { origin, protocol, host, hostname } = new URL(codeHost.serverUrl)
  if (hostname === 'github.com') return ['https://avatars.githubusercontent.com']
  return [origin, `${protocol}//avatars.${host}`]
}

/** The token in place of an App, in single-user mode. */
export function tokenOf({ codeHost }: Pick<Config, 'codeHost'>): string | undefined {
  return codeHost.kind === 'github' ? codeHost.token : undefined
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
  // A variable with a fault of its own is not reported as missing, too.
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
      localWebhooks: values.CODEHOST_WEBHOOKS,
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

/** The two go together: a signature counts at the code host as that of the committer. */
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

/** The product as it is without a word said: engines of its own, and the local code host. */
function isEmbedded(values: Variables): boolean {
  const { EVENTSTORE_URL, MONGODB_URL, NATS_URL } = values
  return !isGitHubNamed(values) && [EVENTSTORE_URL, MONGODB_URL, NATS_URL].every((url) => url === undefined)
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

/** The variable that a fault begins with, given by itself or in a file. */
function variableOf(fault: string): string {
  return fault.slice(0, fault.indexOf(':')).replace(/_FILE$/, '')
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
