/** The environment variables, and the table of them for `--help`. */
import { z } from 'zod'
import { agentSecrets, agentVariables } from './agents.ts'
import {
  address,
  anyPort,
  count,
  dollars,
  engine,
  gigabytes,
  folders,
  hostname,
  key,
  onOrOff,
  organizations,
  origin,
  pem,
  people,
  peopleOrEverybody,
  person,
  port,
  prices,
  privateEgress,
  shortcomings,
  sshKey,
  timerSeconds,
  toolchainNames,
  toolchains,
  unixSocket,
} from './valueTypes.ts'

export const serviceNames = [
  'codehost',
  'command',
  'github',
  'maintenance',
  'query',
  'runner',
  'gateway',
] as const
export type ServiceName = (typeof serviceNames)[number]

/** Services that a process with `command` always runs too, whether or not the operator names them. */
export const withCommand: readonly ServiceName[] = ['github', 'maintenance']

/** The services as an operator names them, without those that always run with `command`. */
export function namedServices(services: ReadonlySet<ServiceName>): readonly ServiceName[] {
  return [...services].filter((name) => !services.has('command') || !withCommand.includes(name))
}

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** The variables, each with its line in `--help`. An empty value counts as not set. */
export const variables = {
  PORT: [
    port(8080),
    'port of the product; in a process without a gateway, of its services and health checks (8080)',
  ],
  CODEHOST_PORT: [port(8081), 'port of the local code host (8081)'],
  CODEHOST_HOST: [
    z.string().optional(),
    'address that the local code host listens on; it asks for no passwords, so you must set this if HOST is not a loopback address (HOST, and 127.0.0.1 where it runs in another process)',
  ],
  HOST: [z.string().default('127.0.0.1'), 'address to listen on (127.0.0.1)'],
  DATA_DIR: [z.string().default('./data'), 'folder for all data (./data)'],
  SERVICES: [
    z.string().optional(),
    `services to run in this process, separated by commas: ${serviceNames.join(', ')}; separate processes need all three shared engines (all)`,
  ],
  COMMAND_URL: [
    address.optional(),
    'where a gateway finds the command service, if it runs in another process',
  ],
  QUERY_URL: [address.optional(), 'where a gateway finds the query service, if it runs in another process'],
  PUBLIC_URL: [
    origin.optional(),
    'address without a path at which people reach the product, if it is not a loopback address',
  ],
  PREVIEW_HOST: [
    hostname.optional(),
    'host name below which previews of tasks are served, each at a name of its own; needs an https PUBLIC_URL, and DNS and a certificate for all names below it (previews only at localhost)',
  ],
  MASTER_KEY: [
    key.optional(),
    '32 bytes in base64 or hex that encrypt all other keys; required with MONGODB_URL (made in DATA_DIR on first start)',
  ],
  ALLOWED_USERS: [
    peopleOrEverybody.optional(),
    'who may sign in: logins at the code host, ids as id:1001, or * for everybody; separated by commas',
  ],
  ALLOWED_ORGANIZATIONS: [
    organizations.default([]),
    'organizations, or teams as acme/core, whose members may sign in; separated by commas',
  ],
  ADMINS: [
    people.default([]),
    'administrators: logins or ids of people who may always sign in, and whom refused people are told to ask',
  ],
  PASSWORD_SIGN_IN: [
    onOrOff.optional(),
    '1: people may register and sign in with a password, through the API (1 with the local code host on embedded engines, else 0)',
  ],
  CODE_HOST: [
    z.enum(['local', 'github'], { error: 'is local or github' }).optional(),
    'local or github; github without an App or a token: its administrator makes an App at /setup (local, or github where an App is named)',
  ],
  GITHUB_SERVER_URL: [
    address.default('https://github.com'),
    'GitHub or a GitHub Enterprise Server (https://github.com)',
  ],
  GITHUB_API_URL: [
    address.optional(),
    'its REST API, if it is not where GitHub and GitHub Enterprise Server have it (https://api.github.com)',
  ],
  GITHUB_CLIENT_ID: [
    z.string().optional(),
    'client id of the GitHub App; without it, and without CODE_HOST, the local code host is used',
  ],
  GITHUB_CLIENT_SECRET: [z.string().optional(), 'client secret of the GitHub App'],
  GITHUB_APP_ID: [
    z
      .string()
      .regex(/^\d{1,19}$/, { error: 'is a number' })
      .optional(),
    'number of the GitHub App; with its private key, git and readers use tokens of its installations',
  ],
  GITHUB_APP_SLUG: [
    z
      .string()
      .regex(/^[a-z\d][a-z\d-]{0,99}$/, { error: 'is the last part of the address of its page' })
      .optional(),
    "the App's name in addresses (flightdeck)",
  ],
  GITHUB_APP_PRIVATE_KEY: [
    pem.optional(),
    'private key of the GitHub App, as PEM; line breaks may be written as \\n',
  ],
  GITHUB_WEBHOOK_SECRET: [
    z.string().optional(),
    'secret of the webhooks that GitHub sends to /webhooks/github; without it there is no such address, and pull requests are polled',
  ],
  GITHUB_WEBHOOK_SECRET_BEFORE: [
    z.string().optional(),
    'the previous secret, which is accepted too while you change it',
  ],
  GITHUB_POLL_SECONDS: [
    timerSeconds.min(1, { error: 'is at least 1' }).default(30),
    'how often pull requests that somebody looks at are read from GitHub; all others are read a tenth as often (30)',
  ],
  FEEDBACK_GATHER_SECONDS: [
    timerSeconds.default(10),
    'how long to wait for the rest of a review before it is shown or sent to an agent (10)',
  ],
  GITHUB_TOKEN: [
    z.string().optional(),
    'single-user mode, with CODE_HOST=github: a personal access token in place of an App. Its owner is the one person who signs in; only where no other machine can reach the server',
  ],
  EVENTSTORE_URL: [engine, 'EventStoreDB for the event log, esdb://user:password@host:2113 (a SQLite file)'],
  MONGODB_URL: [
    engine,
    'MongoDB for read models, blobs and keys, mongodb://user:password@host/flightdeck (files)',
  ],
  NATS_URL: [
    engine,
    'NATS with JetStream for the job queue and notifications, nats://user:password@host:4222 (in process)',
  ],
  SANDBOX: [
    z
      .enum(['auto', 'bubblewrap', 'container', 'none'], {
        error: 'is auto, bubblewrap, container or none',
      })
      .default('auto'),
    'sandbox for agents: auto (bubblewrap, else a container engine), bubblewrap, container, or none at your own risk (auto)',
  ],
  ALLOW_WEAKER_SANDBOX: [
    shortcomings.default([]),
    'protections that a sandbox may lack and still run a real model, separated by commas: seccomp, user_namespaces',
  ],
  CONTAINER_HOST: [
    unixSocket.optional(),
    'socket of the container engine that makes sandboxes (DOCKER_HOST, else where Docker and Podman usually listen)',
  ],
  CONTAINER_IMAGE: [z.string().optional(), 'image for sandbox containers (one is built)'],
  CONTAINER_PATHS: [
    folders.default({}),
    "for a runner that is itself in a container: its folders and their paths on the engine's machine: /data=/srv/flightdeck,/tmp=/srv/tmp",
  ],
  TOOLCHAINS: [
    toolchains.default(toolchainNames),
    `toolchains of this machine outside of /usr that sandboxes can use, separated by commas: ${toolchainNames.join(', ')}; or all, or none (all)`,
  ],
  PRIVATE_EGRESS: [
    privateEgress.default({ inNumbers: false, names: [] }),
    '1: projects may allow IP addresses of this machine and of private networks for their sandboxes, and name them for their models; and names of hosts on private networks that projects may allow for their sandboxes, separated by commas: 1,registry.example.com (0)',
  ],
  TRUST_PROXY: [
    count.default(0),
    "number of reverse proxies in front; the client's address is that far from the right in X-Forwarded-For (0)",
  ],
  STRANGERS_PER_ADDRESS: [
    count.min(1, { error: 'is at least 1' }).default(500),
    'connections from one address that have not signed in; four times as many in total (500)',
  ],
  REQUESTS_PER_MINUTE: [
    count.default(6_000),
    'requests per person and minute; an address may make twice as many; 0: no limit (6000)',
  ],
  TASKS_AT_ONCE: [
    count.min(1, { error: 'is at least 1' }).default(20),
    'tasks that one person may have running or queued (20)',
  ],
  SILENT_AGENT_SECONDS: [
    timerSeconds.min(1, { error: 'is at least 1' }).default(900),
    'an agent that produces no output for this long is stopped (900)',
  ],
  QUESTION_HOURS: [
    // Timers of Node wait for at most 24.8 days, which limits this number of hours.
    count.min(1, { error: 'is at least 1' }).max(576, { error: 'is at most 576' }).default(24),
    'how long an agent waits for a person to answer it; its turn ends then, and an answer starts the next (24)',
  ],
  DRAIN_SECONDS: [
    count.max(86_400, { error: 'is at most 86400' }).default(0),
    'how long the runs of a runner that is told to stop may go on, while it takes no new ones; 0: they end at once (0)',
  ],
  RUN_SECONDS: [
    timerSeconds.min(1, { error: 'is at least 1' }).default(7_200),
    'a turn or command that takes longer is stopped (7200)',
  ],
  MODEL_RETRY_SECONDS: [
    timerSeconds.default(60),
    'how long a turn waits to ask an overloaded model once more; 0: it fails at once (60)',
  ],
  SERVICE_READY_SECONDS: [
    count.min(1, { error: 'is at least 1' }).max(600, { error: 'is at most 600' }).default(60),
    "how long a turn waits for the project's services to be ready (60)",
  ],
  RUNS_AT_ONCE: [
    count.min(1, { error: 'is at least 1' }).default(8),
    'concurrent runs of a runner; at least a quarter are kept for people other than the one with the most (8)',
  ],
  WORKSPACE_BUDGET_GB: [
    gigabytes(20),
    "disk space for a runner's mirrors, workspaces and kept setups, in units of 10^9 bytes; what one person has beyond three quarters of it does not count against others (20)",
  ],
  RUN_OUTPUT_MB: [
    count.min(1, { error: 'is at least 1' }).default(64),
    'how much of a run is recorded, terminal and chat together: its beginning and its end (64)',
  ],
  DAY_OUTPUT_MB: [
    count.default(2_000),
    "how much of one person's runs is recorded in a day of UTC, after that 1 MB of each; 0: no limit (2000)",
  ],
  WORKSPACE_GB: [gigabytes(5), "disk space for one task's workspace; a run that exceeds it is stopped (5)"],
  PROJECT_DISK_GB: [
    gigabytes(10),
    'disk space for all workspaces of a project; beyond it no new workspace is made (10)',
  ],
  MIN_FREE_DISK_GB: [
    gigabytes(1),
    'free disk space to keep: below it the fastest-growing run or shell is stopped, and below half of it none begins (1)',
  ],
  REPOSITORY_ENTRIES: [
    count.min(1, { error: 'is at least 1' }).default(500_000),
    'the most files and folders of a repository that is checked out (500000)',
  ],
  REPOSITORY_GB: [gigabytes(5), 'the largest total file size of a repository that is checked out (5)'],
  RUN_TOKENS: [count.default(0), 'tokens that a turn may use; 0: no limit (0)'],
  RUN_DOLLARS: [dollars, 'US dollars that a turn may use, at MODEL_PRICES; 0: no limit (0)'],
  DAY_TOKENS: [count.default(0), 'tokens that a person may use in a day of UTC; 0: no limit (0)'],
  DAY_DOLLARS: [
    dollars,
    'US dollars that a person may use in a day of UTC, at MODEL_PRICES; 0: no limit (0)',
  ],
  MODEL_PRICES: [
    prices.optional(),
    'price in US dollars per million tokens, by prefix of the model name, as JSON: {"claude-x": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}',
  ],
  IDLE_AGENT_SECONDS: [
    timerSeconds.default(300),
    "how long an agent waits in its sandbox for the task's next message; 0: it ends with its turn (300)",
  ],
  WARM_AGENTS: [
    count.optional(),
    'how many agents wait for their next message; 0: none, and nothing is started before it is needed (as many as fit into a quarter of the free memory)',
  ],
  SEAL_SECONDS: [
    timerSeconds.default(10),
    'how often the log is sealed by itself, in seconds; 0: never, and tasks have no audit record (10)',
  ],
  SEALS_FILE: [
    z.string().optional(),
    'file outside of the database that every seal is written to; keep it on another disk (DATA_DIR/seals.ndjson)',
  ],
  SEAL_GIT: [z.string().optional(), 'git repository that each seal is pushed to: a path or an address'],
  SEAL_WITNESS: [
    address.optional(),
    'witness that each seal is shown to, by the protocol of c2sp.org/tlog-witness',
  ],
  ORIGIN_NOTES: [
    onOrOff.default(false),
    '1: git notes are pushed beside commits that say which turn wrote which lines, as Agent Trace (0)',
  ],
  COMMIT_SIGNING_KEY: [
    sshKey.optional(),
    'SSH private key without a passphrase that signs the commits that this server makes; line breaks may be written as \\n',
  ],
  COMMIT_SIGNER: [
    person.optional(),
    'account at the code host that has its public key, as Name <email>: it becomes the committer, and people stay the authors',
  ],
  METRICS_PORT: [anyPort.optional(), 'port for Prometheus metrics at /metrics; without it there are none'],
  METRICS_HOST: [z.string().default('127.0.0.1'), 'address to listen on for /metrics (127.0.0.1)'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    address.optional(),
    'OTLP/HTTP collector for traces, http://host:4318; without it there are none',
  ],
  OTEL_GENAI: [
    onOrOff.default(false),
    '1: traces have spans that follow the OpenTelemetry conventions for generative AI as well (0)',
  ],
  LOG_LEVEL: [
    z.enum(logLevels, { error: 'is debug, info, warn, error or silent' }).default('warn'),
    'debug, info, warn, error or silent (warn)',
  ],
} as const satisfies Record<string, readonly [z.ZodType, string]>

/** Variables that can be given as `<NAME>_FILE` instead: secrets, and addresses that contain a password. */
export const inFiles = [
  'MASTER_KEY',
  'GITHUB_CLIENT_SECRET',
  'GITHUB_TOKEN',
  'GITHUB_APP_PRIVATE_KEY',
  'GITHUB_WEBHOOK_SECRET',
  'GITHUB_WEBHOOK_SECRET_BEFORE',
  'COMMIT_SIGNING_KEY',
  'EVENTSTORE_URL',
  'MONGODB_URL',
  'NATS_URL',
  ...agentSecrets,
]

export type Variables = { [Name in keyof typeof variables]: z.output<(typeof variables)[Name][0]> }

/** The table of variables for `--help`. */
export function describeVariables(): string {
  const own = Object.entries(variables).map(([name, [, says]]) => [name, says] as const)
  const all = [...own, ...Object.entries(agentVariables)]
  const width = Math.max(...all.map(([name]) => name.length))
  const lines = all.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`)
  const files = `Instead of ${inFiles.join(', ')} a file that holds it may be named: MASTER_KEY_FILE, and so on.`
  return [...lines, '', files].join('\n')
}
