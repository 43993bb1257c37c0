/** A NATS server for tests: the one at NATS_URL, or the system's `nats-server` with JetStream in a folder of its own. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { GenericContainer, Wait } from 'testcontainers'
import { freePortsFor } from '../freePorts.ts'
import { noContainers } from './containers.ts'
import { patienceMs } from '../patience.ts'

/** A server of our own, which can be stopped and started again on the same port and data. */
export interface OwnNats {
  /** The address without credentials. */
  readonly url: string
  readonly port: number
  /** The number of the process that was started last. */
  readonly pid: () => number | undefined
  /** Starts the server again; with a `user` that clients must give (`name:password`), or without. */
  start(changed?: { user: string }): Promise<void>
  /** Resolves when the process has ended. The data stays. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Removes the data of a stopped server. */
  forget(): Promise<void>
  /**
   * Freezes the process, so that the server is reachable and does not answer. Resolves once it is frozen, because a signal takes a moment to arrive.
   */
  freeze(): Promise<void>
  thaw(): void
  /** The folder with the server's data. */
  readonly folder: string
  /** Ends the process and removes the data. */
  close(): Promise<void>
}

/** A server that suites use without changing it. */
export interface AnyNats {
  readonly url: string
  /** What the tests really ran against, for the report. */
  readonly against: string
  close(): Promise<void>
}

const program = process.env['NATS_SERVER'] ?? 'nats-server'
const answersWithinMs = patienceMs

/** The reason why there is no server for tests; `undefined` when there is one. */
export const noNats: string | undefined = reason()

function reason(): string | undefined {
  if (process.env['NATS_URL'] || process.env['NATS_IMAGE']) return undefined
  return versionOf() === undefined ? 'no nats-server in PATH, and no NATS_URL' : undefined
}

/** The reason why no server of our own can be started: one at NATS_URL is never stopped. */
export const noOwnNats: string | undefined =
  versionOf() === undefined ? 'no nats-server in PATH to stop and start' : undefined

function versionOf(): string | undefined {
  try {
    // The output has the form `nats-server: v2.9.10`.
    return execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().split(' ').at(-1)
  } catch {
    return undefined
  }
}

/** The server at NATS_URL, or a new one: in a container of NATS_IMAGE if that is set, otherwise of the system's package. */
export async function anyNats(): Promise<AnyNats> {
  const url = process.env['NATS_URL']
  if (url) return { url, against: 'the NATS server at NATS_URL', close: async () => {} }
  const image = process.env['NATS_IMAGE']
  if (image && (await noContainers()) === undefined) return container(image)
  const own = await ownNats()
  return { url: own.url, against: `the real nats-server ${versionOf()} with JetStream`, close: own.close }
}

async function container(image: string): Promise<AnyNats> {
  const started = await new GenericContainer(image)
    .withCommand(['-js', '-sd', '/tmp/jetstream'])
    .withExposedPorts(4222)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .start()
  return {
    url: `nats://${started.getHost()}:${started.getMappedPort(4222)}`,
    against: `the real nats-server, ${image}, in a container`,
    close: async () => void (await started.stop()),
  }
}

/** Starts a server of the system's package. `user` is the `name:password` that clients must give, and `config` the text of its configuration file. */
export async function ownNats(
  options: { jetStream?: boolean; user?: string; config?: string } = {},
): Promise<OwnNats> {
  const { jetStream = true, config } = options
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-nats-'))
  const [port = 0] = await freePortsFor(1)
  const storage = jetStream ? ['-js', '-sd', join(folder, 'data')] : []
  const configFile = join(folder, 'nats.conf')
  if (config !== undefined) await writeFile(configFile, config)
  const configured = config === undefined ? [] : ['-c', configFile]
  let child: ChildProcess | undefined

  async function start(changed = options): Promise<void> {
    const [name = '', password = ''] = changed.user?.split(/:(.*)/s) ?? []
    const credentials = changed.user === undefined ? [] : ['--user', name, '--pass', password]
    const argv = ['-a', '127.0.0.1', '-p', String(port), ...storage, ...credentials, ...configured]
    child = spawn(program, argv, { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    const deadline = performance.now() + answersWithinMs
    while (!(await greets(port))) {
      if (child.exitCode !== null || performance.now() > deadline)
        throw new Error('nats-server did not start')
      await pause(20)
    }
  }

  async function stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const stopped = child
    child = undefined
    if (stopped === undefined || stopped.exitCode !== null || stopped.signalCode !== null) return
    const gone = once(stopped, 'exit')
    stopped.kill('SIGCONT')
    stopped.kill(signal)
    await gone
  }

  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: () => child?.pid,
    folder: join(folder, 'data'),
    start,
    stop,
    forget: () => rm(join(folder, 'data'), { recursive: true, force: true }),
    async freeze() {
      const pid = child?.pid
      if (pid === undefined) return
      process.kill(pid, 'SIGSTOP')
      while (!(await standsStill(pid))) await pause(5)
    },
    thaw: () => void child?.kill('SIGCONT'),
    close: async () => {
      await stop('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Whether a server sends its INFO on the port. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000, () => settle(false))
    socket.once('error', () => settle(false))
    socket.once('data', (data) => settle(data.toString('utf8').startsWith('INFO ')))
  })
}

/** Whether the system has stopped every thread of the process; without /proc this cannot be determined. */
async function standsStill(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const states = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => ') T')),
  )
  return states.every((state) => /\) T/.test(state))
}
