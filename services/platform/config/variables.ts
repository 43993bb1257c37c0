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
  key,
  onOrOff,
  organizations,
  pem,
  people,
  peopleOrEverybody,
  person,
  port,
  prices,
  shortcomings,
  sshKey,
  unixSocket,
} from './values.ts'

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

/** What runs with `command`, also where it is not named. */
export const withCommand: readonly ServiceName[] = ['github', 'maintenance']

/** The services in the words of an operator, who need not name what runs with `command`. */
export function namedServices(services: ReadonlySet<ServiceName>): readonly ServiceName[] {
  return [...services].filter((name) => !services.has('command') || !withCommand.includes(name))
}

/** How Flightdeck is known at the local code host. */
const localApps = ['installed', 'registered', 'none'] as const

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** The variables, each with its line in `--help`. A variable with an empty value counts as not set. */
export const variables = {
  PORT: [port(8080), 'port of the product, or of the services that run apart (8080)'],
  CODEHOST_PORT: [port(8081), 'port of the local code host (8081)'],
  CODEHOST_HOST: [
    z.string().optional(),
    'address that the local code host listens on, which asks for no passwords: HOST where that is loopback',
  ],
  CODEHOST_APP: [
    z.enum(localApps, { error: 'is installed, registered or none' }).default('installed'),
    'Flightdeck at the local code host: installed everywhere, registered without installations, or none (installed)',
  ],
  CODEHOST_WEBHOOKS: [
    onOrOff.default(true),
    '0: the local code host does not tell the product by webhooks what happens, and is polled instead (1)',
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
  CODE_HOST: [
    z.enum(['local', 'github'], { error: 'is local or github' }).optional(),
    'local or github; github without an App: its administrator makes one at /setup (local, or github where an App is named)',
  ],
  GITHUB_SERVER_URL: [address.default('https://github.com'), 'the code host (https://github.com)'],
  GITHUB_API_URL: [
    address.optional(),
    'its REST interface; without it where GitHub and GitHub Enterprise have it (https://api.github.com)',
  ],
  GITHUB_CLIENT_ID: [
    z.string().optional(),
    'client id of the GitHub App; without it, and without CODE_HOST, the local code host serves',
  ],
  GITHUB_CLIENT_SECRET: [z.string().optional(), 'client secret of the GitHub App'],
  GITHUB_APP_ID: [
    z
      .string()
      .regex(/^\d{1,19}$/, { error: 'is a number' })
      .optional(),
    'number of the GitHub App, with its private key: then git and readers use tokens of its installations',
  ],
  GITHUB_APP_SLUG: [
    z
      .string()
      .regex(/^[a-z\d][a-z\d-]{0,99}$/, { error: 'is the last part of the address of its page' })
      .optional(),
    "the App's name in addresses (flightdeck)",
  ],
  GITHUB_APP_PRIVATE_KEY: [pem.optional(), 'private key of the GitHub App, as PEM; line breaks may be \\n'],
  GITHUB_WEBHOOK_SECRET: [
    z.string().optional(),
    'secret that GitHub signs webhooks with, sent to /webhooks/github; without it there is no such address, and pull requests are polled',
  ],
  GITHUB_WEBHOOK_SECRET_BEFORE: [
    z.string().optional(),
    'the secret before, which counts too while you change it',
  ],
  GITHUB_POLL_SECONDS: [
    count.min(1, { error: 'is at least 1' }).default(30),
    'how often pull requests are read at GitHub that somebody looks at; all others a tenth as often (30)',
  ],
  FEEDBACK_GATHER_SECONDS: [
    count.default(10),
    'how long a review is awaited to be whole before it is shown or sent to an agent (10)',
  ],
  GITHUB_TOKEN: [
    z.string().optional(),
    'with CODE_HOST=github, personal access token in place of a GitHub App: its owner is the one person who signs in; on loopback only',
  ],
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
  ALLOW_WEAKER_SANDBOX: [
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
    '1 lets projects list addresses of this machine and of private networks for their sandboxes',
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
  MODEL_RETRY_SECONDS: [
    count.default(60),
    'how long a turn waits to ask an overloaded model once more; 0: it does not (60)',
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
    'an agent waits so long in its sandbox for the next message; 0: it ends with its turn (300)',
  ],
  WARM_AGENTS: [
    count.optional(),
    'how many agents wait for their next message; 0: none, and nothing is started before it is needed (as many as fit into a quarter of the free memory)',
  ],
  SEAL_SECONDS: [
    count.default(10),
    'the log is sealed so often at most, when something has happened; 0: never (10)',
  ],
  SEALS_FILE: [
    z.string().optional(),
    'file outside of the database that every seal is added to; best on another disk (DATA_DIR/seals.ndjson)',
  ],
  SEAL_GIT: [
    z.string().optional(),
    'a git repository, by path or address, that gets a commit for every seal; without it there is none',
  ],
  SEAL_WITNESS: [
    address.optional(),
    'a witness of c2sp.org/tlog-witness that cosigns every seal; without it there is none',
  ],
  ORIGIN_NOTES: [
    onOrOff.default(false),
    '1: git notes are pushed beside commits that say which turn wrote which lines, as Agent Trace (0)',
  ],
  COMMIT_SIGNING_KEY: [
    sshKey.optional(),
    'SSH private key without a passphrase by which this server signs the commits that it makes; line breaks may be \\n',
  ],
  COMMIT_SIGNER: [
    person.optional(),
    'the account at the code host that has the public key of COMMIT_SIGNING_KEY, as Name <email>; it commits, people stay the authors',
  ],
  METRICS_PORT: [anyPort.optional(), 'port of /metrics, for Prometheus; without it there are none'],
  METRICS_HOST: [z.string().default('127.0.0.1'), 'address to listen on for /metrics (127.0.0.1)'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    address.optional(),
    'where traces are sent, by OTLP over HTTP; without it there are none',
  ],
  OTEL_GENAI: [
    onOrOff.default(false),
    '1: traces also have spans by the OpenTelemetry conventions for generative AI (0)',
  ],
  LOG_LEVEL: [
    z.enum(logLevels, { error: 'is debug, info, warn, error or silent' }).default('warn'),
    'debug, info, warn, error or silent (warn)',
  ],
} as const satisfies Record<string, readonly [z.ZodType, string]>

/** Variables that `<NAME>_FILE` may give in a file instead: secrets, and addresses with a password in them. */
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

/** Values by variable, as their schemas read them. */
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
