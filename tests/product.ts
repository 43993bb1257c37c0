/** The product as an operator starts it: built, in a process and an environment of its own, on a data folder that is removed with the test. */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { freePortsFor } from './freePorts.ts'
import { gitHubBeside, type GitHubBeside, type GitHubKind } from './product/gitHubBeside.ts'
import { sandboxUnderTest } from './product/sandboxUnderTest.ts'
import { within } from './product/live.ts'
import { onboard, personWith, signIn, type Person } from './product/person.ts'
import { processesOf } from './product/processes.ts'
import {
  cleanEnvironment,
  discard,
  keepLogs,
  noneLeft,
  ownFolder,
  readyMs,
  serverEntry,
  serverProcess,
  type Logs,
  type ServerProcess,
} from './product/server.ts'
import type { MessagesApi } from './standins/messagesApi.ts'

export { cleanEnvironment, ownFolder }

export interface ProductOptions {
  /** Variables in addition to the product's own clean environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Repositories for `--repo`; with a stand-in for GitHub, they are created there. */
  readonly repos?: readonly string[]
  /** The code host: the built-in one, or a stand-in for GitHub. */
  readonly codeHost?: 'local' | GitHubKind
  /** The agent's model: the built-in scripted model, or a stand-in for the Messages API. */
  readonly model?: 'scripted' | { readonly messagesApi: MessagesApi }
  /** A data folder that is kept when the product stops; the product's own folder is removed. */
  readonly dataDir?: string
  /** A file that is loaded before the product, at each start. */
  readonly preload?: string
  /** The user who runs it, by number, which only root can choose; the tests' own user by default. */
  readonly user?: number
  /** The program of the server; by default the one in dist. */
  readonly entry?: string
}

/** The product in any of its forms. */
export interface AnyProduct {
  /** The product's address: `http://127.0.0.1:<port>`. */
  readonly base: string
  readonly codeHostUrl: string
  /** Everything that the product has printed, over all its starts. */
  readonly logs: Readonly<Logs>
  /** Signs in at the code host and, by default, completes the onboarding. */
  signIn(
    login: 'ada' | 'grace' | 'alan',
    options?: { readonly onboarding?: 'complete' | 'left' },
  ): Promise<Person>
  /** A person with this token, or without one. */
  personWith(token: string | undefined): Person
  /** Sends SIGTERM unless the product has ended; checks that it exits with 0 within 10 s and leaves no process, and removes its folders. */
  stop(): Promise<void>
  /** The living processes of the product, including itself. */
  processes(): ReturnType<typeof processesOf>
}

export interface Product extends AnyProduct {
  readonly dataDir: string
  /** Sends SIGTERM or Ctrl-C, and keeps data and ports for `restart`. Returns how long the end took, in milliseconds. */
  terminate(signal?: 'SIGTERM' | 'SIGINT'): Promise<void>
  /** Sends SIGKILL to the process alone: the processes that it started get no signal. */
  kill9(): Promise<void>
  /** Starts the product again on the same data and ports; it must not be running. */
  restart(): Promise<void>
}

/** The key that a product with the stand-in gets, and that must not appear anywhere. */
export const apiKey = 'sk-ant-api03-a-key-that-only-the-broker-may-hold-0123456789'

/** Another test may take a port after we have found it free and before the product uses it. */
const startAttempts = 3

/** Starts the product and waits until it serves. Throws with its output when it does not. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const folder = await ownFolder()
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeAtExit)
  const dataDir = options.dataDir ?? join(folder, 'data')
  const { repos = [], model = 'scripted', codeHost = 'local', env = {}, preload, user, entry } = options
  if (user !== undefined) await chown(folder, user, user)

  let server: ServerProcess
  let gitHub: GitHubBeside | undefined
  let ports: Ports
  for (let attempt = 1; ; attempt += 1) {
    ports = await freePorts()
    gitHub =
      codeHost === 'local'
        ? undefined
        : gitHubBeside(codeHost, {
            dataDir: join(dataDir, 'codehost'),
            port: ports.codeHost,
            base: `http://127.0.0.1:${ports.product}`,
            repos,
            home: folder,
          })
    server = serverProcess(folder, {
      env: {
        ...cleanEnvironment(folder),
        PORT: String(ports.product),
        CODEHOST_PORT: String(ports.codeHost),
        DATA_DIR: dataDir,
        ...modelEnvironment(model),
        ...sandboxUnderTest.env,
        ...gitHub?.env,
        ...env,
      },
      args: gitHub ? [] : repoArguments(repos),
      preload,
      user,
      entry,
    })
    try {
      await gitHub?.start()
      await server.start()
      break
    } catch (fault) {
      await gitHub?.stop()
      if (attempt < startAttempts && /is in use/.test(server.logs.stderr)) continue
      await discard(folder)
      throw fault
    }
  }

  // A mount is reported without the mount point above it, so the beginning of its path may be missing.
  const processes = () => processesOf(basename(folder))
  const base = `http://127.0.0.1:${ports.product}`
  const { logs, start, isRunning } = server
  const terminate: Product['terminate'] = async (signal) => {
    await server.terminate(signal)
    await gitHub?.stop()
  }
  const kill9 = async () => {
    await server.kill9()
    await gitHub?.stop()
  }
  return {
    base,
    codeHostUrl: `http://localhost:${ports.codeHost}`,
    dataDir,
    logs,
    signIn: signingIn(base),
    personWith: (token) => personWith(base, token),
    terminate,
    kill9,
    restart: async () => {
      await gitHub?.start()
      await start()
    },
    processes,
    async stop() {
      try {
        if (isRunning()) await terminate()
        await noneLeft(processes)
      } finally {
        await kill9()
        process.off('exit', removeAtExit)
        await discard(folder)
      }
    },
  }
}

/** Signs people in to the product at `base`. */
export function signingIn(base: string): AnyProduct['signIn'] {
  return async (login, { onboarding = 'complete' } = {}) => {
    const arrived = await signIn(base, login)
    const person = personWith(base, arrived.token)
    if (arrived.onboarding && onboarding === 'complete') await onboard(person, fullNames[login])
    return person
  }
}

const fullNames = { ada: 'Ada Lovelace', grace: 'Grace Hopper', alan: 'Alan Turing' } as const

/** The variables that tell the product which model to use. */
export function modelEnvironment(
  model: NonNullable<ProductOptions['model']>,
): Readonly<Record<string, string>> {
  return model === 'scripted'
    ? {}
    : { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: model.messagesApi.baseUrl }
}

export function repoArguments(repos: readonly string[]): readonly string[] {
  return repos.flatMap((repo) => ['--repo', repo])
}

/** The end of a start that must fail. */
export interface FailedStart {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the product until it ends, within 30 s: by itself, or on a signal after some time. It gets only this environment. */
export async function runProduct(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  terminateAfterMs?: number,
): Promise<FailedStart> {
  const child = spawn(process.execPath, [serverEntry, ...args], {
    env,
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const logs = { stdout: '', stderr: '' }
  keepLogs(child, logs)
  if (terminateAfterMs !== undefined) setTimeout(() => child.kill('SIGTERM'), terminateAfterMs)
  const code = await within(
    readyMs,
    () => `It does not end.\n${logs.stdout}${logs.stderr}`,
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ).finally(() => child.kill('SIGKILL'))
  return { code, ...logs }
}

interface Ports {
  readonly product: number
  readonly codeHost: number
}

/** Two ports that are free now. */
export async function freePorts(): Promise<Ports> {
  const [product = 0, codeHost = 0] = await freePortsFor(2)
  return { product, codeHost }
}
