/** The one place that reads the environment: everything is checked at once, before anything starts. */
import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'

export const serviceNames = ['codehost', 'command', 'query', 'runner', 'gateway'] as const
export type ServiceName = (typeof serviceNames)[number]

export type CodeHostConfig =
  | { readonly kind: 'local' }
  | {
      readonly kind: 'github'
      readonly serverUrl: string
      readonly apiUrl: string
      readonly clientId: string
      readonly clientSecret: string
    }

export type ModelConfig =
  | { readonly kind: 'scripted' }
  | { readonly kind: 'anthropic'; readonly apiKey: string; readonly baseUrl: string }

export interface Config {
  readonly port: number
  readonly codeHostPort: number
  readonly host: string
  readonly dataDir: string
  readonly publicUrl: string | null
  readonly masterKey: string | undefined
  readonly codeHost: CodeHostConfig
  readonly model: ModelConfig
  readonly claudeBin: string | undefined
  /** Where programs are looked for. */
  readonly path: string
  /** The operator's own environment, for programs that act for the operator: cloning what `--repo` names. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly sandbox: 'bubblewrap' | 'none'
  readonly logLevel: string
  /** Variables that are set and have no effect yet. */
  readonly unused: readonly string[]
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

const isPort = { error: 'is a port: 1 to 65535' }
const port = (fallback: number) =>
  z.coerce.number(isPort).int(isPort).min(1, isPort).max(65_535, isPort).default(fallback)
const address = z.url({ protocol: /^https?$/, error: 'is an http or https address' })
const key = z.string().regex(/^([0-9a-f]{64}|[\w+/-]{43}=?)$/i, {
  error: 'is 32 bytes in base64 or hex; `openssl rand -base64 32` makes one',
})
const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** Has its name already and no effect yet: whoever sets it is told. */
const unused = z.string().optional()
/** Would put the data elsewhere: better no start than data in the wrong place. */
const refused = (engine: string) =>
  z.undefined({ error: `${engine} is not there yet, and data would go elsewhere: leave it out` })

/** The variables, each with what `--help` says of it. A variable that is set to nothing counts as not set. */
const variables = {
  PORT: [port(8080), 'port of the product (8080)'],
  CODEHOST_PORT: [port(8081), 'port of the local code host (8081)'],
  HOST: [z.string().default('127.0.0.1'), 'address to listen on (127.0.0.1)'],
  DATA_DIR: [z.string().default('./data'), 'folder of all data (./data)'],
  SERVICES: [
    z.string().optional(),
    'services to run, with commas; all by default: running them apart needs shared engines',
  ],
  PUBLIC_URL: [address.optional(), 'where people reach the product, when it is not a loopback address'],
  MASTER_KEY: [key.optional(), '32 bytes in base64 or hex; made in DATA_DIR on first start'],
  PASSWORD_SIGN_IN: [unused, 'no effect yet'],
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
  EVENTSTORE_URL: [refused('EventStoreDB'), 'not there yet: data is in the embedded stores'],
  MONGODB_URL: [refused('MongoDB'), 'not there yet: data is in the embedded stores'],
  NATS_URL: [refused('NATS'), 'not there yet: one process runs all services'],
  ANTHROPIC_API_KEY: [
    z.string().optional(),
    'key for the model of `claude`; without it a built-in scripted model answers',
  ],
  ANTHROPIC_BASE_URL: [address.default('https://api.anthropic.com'), 'where the key broker asks the model'],
  CURSOR_API_KEY: [unused, 'no effect yet'],
  CLAUDE_BIN: [z.string().optional(), 'the `claude` program; else PATH, else the installed package'],
  CURSOR_BIN: [unused, 'no effect yet'],
  SANDBOX: [
    z.enum(['bubblewrap', 'none'], { error: 'is bubblewrap or none' }).default('bubblewrap'),
    'the box agents run in: bubblewrap, or none at your own risk',
  ],
  LOG_LEVEL: [
    z.enum(logLevels, { error: 'is debug, info, warn, error or silent' }).default('warn'),
    'debug, info, warn, error or silent (warn)',
  ],
} as const satisfies Record<string, readonly [z.ZodType, string]>

type Variables = { [Name in keyof typeof variables]: z.output<(typeof variables)[Name][0]> }

/** The table of variables for `--help`. */
export function describeVariables(): string {
  const width = Math.max(...Object.keys(variables).map((name) => name.length))
  return Object.entries(variables)
    .map(([name, [, says]]) => `  ${name.padEnd(width)}  ${says}`)
    .join('\n')
}

/** Reads and checks the environment. Throws `BadConfig` with every fault there is. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = []
  const values = Object.fromEntries(
    Object.entries(variables).map(([name, [schema]]) => {
      const parsed = schema.safeParse(env[name]?.trim() || undefined)
      if (!parsed.success) faults.push(`${name}: ${parsed.error.issues[0]?.message ?? 'is not understood'}.`)
      return [name, parsed.data]
    }),
    // Each value comes from the schema of its own name.
  ) as Variables
  const codeHost = codeHostOf(values, faults)
  faults.push(...faultsOfServices(values.SERVICES), ...faultsOfClaude(values.CLAUDE_BIN))
  if (values.PORT !== undefined && values.PORT === values.CODEHOST_PORT)
    faults.push('CODEHOST_PORT: is the same as PORT.')
  if (faults.length > 0) throw new BadConfig(faults)
  return {
    port: values.PORT,
    codeHostPort: values.CODEHOST_PORT,
    host: values.HOST,
    dataDir: resolve(values.DATA_DIR),
    publicUrl: values.PUBLIC_URL ?? null,
    masterKey: values.MASTER_KEY,
    codeHost,
    model:
      values.ANTHROPIC_API_KEY === undefined
        ? { kind: 'scripted' }
        : { kind: 'anthropic', apiKey: values.ANTHROPIC_API_KEY, baseUrl: values.ANTHROPIC_BASE_URL },
    claudeBin: values.CLAUDE_BIN,
    path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    environment: env,
    sandbox: values.SANDBOX,
    logLevel: values.LOG_LEVEL,
    unused: Object.entries(variables).flatMap(([name, [schema]]) =>
      schema === unused && env[name] ? [name] : [],
    ),
  }
}

function codeHostOf(values: Variables, faults: string[]): CodeHostConfig {
  const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = values
  if (clientId === undefined && clientSecret === undefined) return { kind: 'local' }
  if (clientId === undefined) faults.push('GITHUB_CLIENT_ID: is needed beside GITHUB_CLIENT_SECRET.')
  if (clientSecret === undefined) faults.push('GITHUB_CLIENT_SECRET: is needed beside GITHUB_CLIENT_ID.')
  const serverUrl = values.GITHUB_SERVER_URL?.replace(/\/+$/, '')
  const apiUrl = values.GITHUB_API_URL?.replace(/\/+$/, '')
  return { kind: 'github', serverUrl, apiUrl, clientId: clientId ?? '', clientSecret: clientSecret ?? '' }
}

function faultsOfServices(listed: string | undefined): string[] {
  if (listed === undefined) return []
  const names = listed.split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !serviceNames.some((known) => known === name))
  if (unknown.length > 0) return [`SERVICES: ${unknown.join(', ')}: there are ${serviceNames.join(', ')}.`]
  const missing = serviceNames.filter((name) => name !== 'codehost' && !names.includes(name))
  return missing.length === 0
    ? []
    : [`SERVICES: without shared engines one process runs all services; ${missing.join(', ')} is missing.`]
}

function faultsOfClaude(file: string | undefined): string[] {
  return file === undefined || isProgram(file) ? [] : [`CLAUDE_BIN: ${file} is no program that can be run.`]
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    // A folder can be entered, which is the same right.
    return statSync(file).isFile()
  } catch {
    return false
  }
}
