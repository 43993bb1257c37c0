/** The product as an operator starts it: built, in a process and an environment of its own, on a data folder that goes with the test. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { within } from './product/live.ts'
import { onboard, personWith, signIn, type Person } from './product/person.ts'
import { processesOf } from './product/processes.ts'
import type { MessagesApi } from './standins/messagesApi.ts'

export interface ProductOptions {
  /** On top of the product's own clean environment. */
  readonly env?: Readonly<Record<string, string>>
  /** What `--repo` names, each. */
  readonly repos?: readonly string[]
  /** Who answers the agent: the built-in scripted model, or a stand-in for the Messages API. */
  readonly model?: 'scripted' | { readonly messagesApi: MessagesApi }
  /** Kept when the product stops; a folder of its own goes with it. */
  readonly dataDir?: string
}

export interface Product {
  /** `http://127.0.0.1:<port>`. */
  readonly base: string
  readonly codeHostUrl: string
  readonly dataDir: string
  /** Everything it printed, over all its starts. */
  readonly logs: { readonly stdout: string; readonly stderr: string }
  /** Signs in at the code host and, unless told otherwise, completes the onboarding. */
  signIn(login: 'ada' | 'grace', options?: { readonly onboarding?: 'complete' | 'left' }): Promise<Person>
  /** Somebody with this token, or with none. */
  personWith(token: string | undefined): Person
  /** SIGTERM, unless it is gone; checks that it exits 0 within 10 s and leaves no process, and removes what is its own. */
  stop(): Promise<void>
  /** SIGTERM or Ctrl-C, and the same data and ports kept for `restart`. Gives how long it took, in milliseconds. */
  terminate(signal?: 'SIGTERM' | 'SIGINT'): Promise<number>
  /** SIGKILL of the process alone: what it started is not told. */
  kill9(): Promise<void>
  /** Starts again on the same data and ports; it must not run. */
  restart(): Promise<void>
  /** What of it is alive, itself included. */
  processes(): ReturnType<typeof processesOf>
}

/** The key that a product on the stand-in is given; it must show nowhere. */
export const apiKey = 'sk-ant-api03-a-key-that-only-the-broker-may-hold-0123456789'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const entry = join(root, 'dist/server/main.js')
const readyMs = 30_000
const drainMs = 10_000
/** Another test may take a port between our asking and the product's. */
const startAttempts = 3

/** Starts the product and waits until it serves. Throws with what it printed when it does not. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const folder = await ownFolder()
  const dataDir = options.dataDir ?? join(folder, 'data')
  const logs = { stdout: '', stderr: '' }
  let ports = await freePorts()
  let child: ChildProcess | undefined

  const launch = async () => {
    const started = startServer(folder, { ...options, dataDir, ports })
    child = started
    keep(started, logs)
    await readiness(started, logs)
  }
  const discard = () => rm(folder, { recursive: true, force: true })
  // Mounts are told without the mount point that they are below, so that a path may lack its beginning.
  const processes = () => processesOf(basename(folder))

  for (let attempt = 1; ; attempt += 1) {
    try {
      await launch()
      break
    } catch (fault) {
      if (attempt < startAttempts && /is in use/.test(logs.stderr)) {
        logs.stderr = ''
        ports = await freePorts()
        continue
      }
      await discard()
      throw fault
    }
  }

  const base = `http://127.0.0.1:${ports.product}`
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null

  async function terminate(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<number> {
    const begun = performance.now()
    const code = await ended(child, signal, drainMs + 2_000)
    const took = performance.now() - begun
    if (code !== 0 || took > drainMs)
      throw new Error(`It exited with ${code} after ${Math.round(took)} ms.\n${logs.stdout}${logs.stderr}`)
    return took
  }

  return {
    base,
    codeHostUrl: `http://localhost:${ports.codeHost}`,
    dataDir,
    logs,
    async signIn(login, { onboarding = 'complete' } = {}) {
      const arrived = await signIn(base, login)
      const person = personWith(base, arrived.token)
      if (arrived.onboarding && onboarding === 'complete') await onboard(person, fullNames[login])
      return person
    },
    personWith: (token) => personWith(base, token),
    terminate,
    async kill9() {
      await ended(child, 'SIGKILL', drainMs)
    },
    restart: launch,
    processes,
    async stop() {
      try {
        if (isRunning()) await terminate()
        await noneLeft(processes)
      } finally {
        child?.kill('SIGKILL')
        await discard()
      }
    },
  }
}

const fullNames = { ada: 'Ada Lovelace', grace: 'Grace Hopper' } as const

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
  const child = spawn(process.execPath, [entry, ...args], {
    env,
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const logs = { stdout: '', stderr: '' }
  keep(child, logs)
  if (terminateAfterMs !== undefined) setTimeout(() => child.kill('SIGTERM'), terminateAfterMs)
  const code = await within(
    readyMs,
    () => `It does not end.\n${logs.stdout}${logs.stderr}`,
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ).finally(() => child.kill('SIGKILL'))
  return { code, ...logs }
}

/** A clean environment: programs are found as in the shell, and nothing else of the shell is there. */
export function cleanEnvironment(folder: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: folder,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
  }
}

/** A folder of a test's own, which agents' users may pass through as they may through `/tmp`. */
export async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-product-'))
  await chmod(folder, 0o711)
  return folder
}

interface Ports {
  readonly product: number
  readonly codeHost: number
}

/** Two ports that nobody has now. */
export async function freePorts(): Promise<Ports> {
  const [one, other] = [createServer(), createServer()]
  const ports = await Promise.all(
    [one, other].map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject)
          server.listen(0, '127.0.0.1', () => {
            const address = server.address()
            resolve(typeof address === 'object' && address !== null ? address.port : 0)
          })
        }),
    ),
  )
  await Promise.all([one, other].map((server) => new Promise((resolve) => server.close(resolve))))
  const [product = 0, codeHost = 0] = ports
  return { product, codeHost }
}

function startServer(
  folder: string,
  {
    env = {},
    repos = [],
    model = 'scripted',
    dataDir,
    ports,
  }: ProductOptions & { dataDir: string; ports: Ports },
): ChildProcess {
  if (!existsSync(entry)) throw new Error('There is no server in dist: npm run build makes it.')
  const child = spawn(process.execPath, [entry, ...repos.flatMap((repo) => ['--repo', repo])], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...cleanEnvironment(folder),
      PORT: String(ports.product),
      CODEHOST_PORT: String(ports.codeHost),
      DATA_DIR: dataDir,
      ...(model === 'scripted'
        ? {}
        : { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: model.messagesApi.baseUrl }),
      ...env,
    },
  })
  // A test run that is broken off takes its products with it.
  const takeAlong = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', takeAlong)
  child.once('exit', () => process.off('exit', takeAlong))
  return child
}

function keep(child: ChildProcess, logs: { stdout: string; stderr: string }): void {
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (logs.stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (logs.stderr += text))
}

async function readiness(child: ChildProcess, logs: { stdout: string; stderr: string }): Promise<void> {
  const from = logs.stdout.length
  const told = () => `${logs.stdout.slice(from)}${logs.stderr}`
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', () => {
      if (/^Flightdeck is ready: http/m.test(logs.stdout.slice(from))) resolve()
    })
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`It ended with ${code}.\n${told()}`)))
  })
  try {
    await within(readyMs, () => `It is not ready.\n${told()}`, ready)
  } catch (fault) {
    child.kill('SIGKILL')
    throw fault
  }
}

/** Sends the signal and gives the exit code, `null` when a signal ended it. */
async function ended(
  child: ChildProcess | undefined,
  signal: NodeJS.Signals,
  withinMs: number,
): Promise<number | null> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.kill(signal)
  return within(withinMs, `It does not end after ${signal}`, closed).finally(() => child.kill('SIGKILL'))
}

/** What the kernel still has to clear away after a kill gets a moment. */
async function noneLeft(processes: Product['processes']): Promise<void> {
  for (const end = Date.now() + 3_000; ;) {
    const left = await processes()
    if (left.length === 0) return
    if (Date.now() > end)
      throw new Error(`Still there: ${left.map(({ pid, command }) => `${pid} ${command}`).join('\n')}`)
    await new Promise((resolve) => {
      setTimeout(resolve, 50)
    })
  }
}
