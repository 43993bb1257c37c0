/** The product as an operator starts it: built, in a process and an environment of its own, on a data folder that goes with the test. */
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
  /** On top of the product's own clean environment. */
  readonly env?: Readonly<Record<string, string>>
  /** What `--repo` names, each; with a stand-in for GitHub, what is brought in there. */
  readonly repos?: readonly string[]
  /** The code host: the one that is built in, or a stand-in for GitHub. */
  readonly codeHost?: 'local' | GitHubKind
  /** Who answers the agent: the built-in scripted model, or a stand-in for the Messages API. */
  readonly model?: 'scripted' | { readonly messagesApi: MessagesApi }
  /** Kept when the product stops; a folder of its own goes with it. */
  readonly dataDir?: string
  /** A file that is loaded before the product, at each start. */
  readonly preload?: string
  /** Who runs it, by number, which root alone can say; the tests' own user when not given. */
  readonly user?: number
}

/** The product in whatever form it runs. */
export interface AnyProduct {
  /** `http://127.0.0.1:<port>`. */
  readonly base: string
  readonly codeHostUrl: string
  /** Everything it printed, over all its starts. */
  readonly logs: Readonly<Logs>
  /** Signs in at the code host and, unless told otherwise, completes the onboarding. */
  signIn(
    login: 'ada' | 'grace' | 'alan',
    options?: { readonly onboarding?: 'complete' | 'left' },
  ): Promise<Person>
  /** Somebody with this token, or with none. */
  personWith(token: string | undefined): Person
  /** SIGTERM, unless it is gone; checks that it exits 0 within 10 s and leaves no process, and removes what is its own. */
  stop(): Promise<void>
  /** What of it is alive, itself included. */
  processes(): ReturnType<typeof processesOf>
}

export interface Product extends AnyProduct {
  readonly dataDir: string
  /** SIGTERM or Ctrl-C, and the same data and ports kept for `restart`. Gives how long it took, in milliseconds. */
  terminate(signal?: 'SIGTERM' | 'SIGINT'): Promise<void>
  /** SIGKILL of the process alone: what it started is not told. */
  kill9(): Promise<void>
  /** Starts again on the same data and ports; it must not run. */
  restart(): Promise<void>
}

/** The key that a product on the stand-in is given; it must show nowhere. */
export const apiKey = 'sk-ant-api03-a-key-that-only-the-broker-may-hold-0123456789'

/** Another test may take a port between our asking and the product's. */
const startAttempts = 3

/** Starts the product and waits until it serves. Throws with what it printed when it does not. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const folder = await ownFolder()
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeAtExit)
  const dataDir = options.dataDir ?? join(folder, 'data')
  const { repos = [], model = 'scripted', codeHost = 'local', env = {}, preload, user } = options
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

  // Mounts are told without the mount point that they are below, so that a path may lack its beginning.
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

/** Signs people in at the product at `base`. */
export function signingIn(base: string): AnyProduct['signIn'] {
  return async (login, { onboarding = 'complete' } = {}) => {
    const arrived = await signIn(base, login)
    const person = personWith(base, arrived.token)
    if (arrived.onboarding && onboarding === 'complete') await onboard(person, fullNames[login])
    return person
  }
}

const fullNames = { ada: 'Ada Lovelace', grace: 'Grace Hopper', alan: 'Alan Turing' } as const

/** What tells the product who answers the agent. */
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

/** How a start that must not succeed ended. */
export interface FailedStart {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the product until it ends, within 30 s: by itself, or asked to after some time. Its environment is all that it gets. */
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

/** Two ports that nobody has now. */
export async function freePorts(): Promise<Ports> {
  const [product = 0, codeHost = 0] = await freePortsFor(2)
  return { product, codeHost }
}
