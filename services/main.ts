/**
 * The entry point: reads the configuration, opens the engines (databases, vault, code host), starts the services, and stops them in the opposite
 * order; or runs one operation of the command line instead.
 */
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Middleware } from 'koa'
import { BadConfig, codeHostName, readConfig, type Config } from '#platform/config/config.ts'
import { knownAddressForCodeHost, pictureOrigins, publicAddress } from '#platform/config/addresses.ts'
import { describeVariables, namedServices } from '#platform/config/variables.ts'
import type { Engines } from '#platform/compose.ts'
import { isReadable } from '#platform/reads/documents.ts'
import { emptyCatalog } from '#platform/ports/readStore.ts'
import type { SandboxPorts } from '#platform/ports/listeningPorts.ts'
import { loadCode } from './loadCode.ts'
import { beginCodeHost } from './localCodeHost.ts'
import type { OperationResult } from './operations/operation.ts'
import { usage, usageOf } from './operations/helpText.ts'
import { readModelOperationOf, operationOf, UnknownWords } from './operations/operatorCommands.ts'
import { requireLog, standaloneOf } from './operations/storeCommands.ts'
import type { Details } from '#platform/http/health.ts'
import { webhookSecrets } from '#platform/credentials/hostApp.ts'
import { serviceTokens, type Callee } from '#platform/http/serviceToken.ts'
import { startAgents, startNotices, type Agents } from '#platform/connectedRunners.ts'
import { processName } from '#platform/telemetry/setUpTelemetry.ts'

/** A part of the product that runs until it is stopped. `stop` resolves when all work of the part has ended. */
interface Running {
  stop(): Promise<void>
}

/** How long all parts together have to stop, in ms, in addition to `drainMs` for runs. */
const stopMs = 9_000
const readableWithinMs = 5_000
const betweenLooksMs = 20

interface Arguments {
  readonly repos: string[]
  readonly help: boolean
  readonly data: string | undefined
  readonly withKey: boolean
  readonly words: string[]
}

function readArguments(): Arguments {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      repo: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
      data: { type: 'string' },
      'with-key': { type: 'boolean', default: false },
    },
  })
  const { repo: repos, help, data, 'with-key': withKey } = values
  return { repos, help, data, withKey, words: positionals }
}

/** Starts the services of this process in the order of their dependencies. If one fails to start, the services that already run are stopped. */
async function startServices(config: Config, repos: readonly string[], engines: Engines): Promise<Running[]> {
  const { services } = config
  const running: Running[] = []
  const details = new Map<string, readonly string[]>()
  try {
    // The metrics server starts first, so that it covers the other parts until they have stopped.
    if (engines.metrics && config.metricsPort !== null) {
      const { startMetricsServer } = await import('#platform/telemetry/metricsServer.ts')
      running.push(
        await startMetricsServer({ host: config.metricsHost, port: config.metricsPort }, engines.metrics),
      )
    }
    const preparing = services.has('runner')
      ? (await import('./runner/prepareRunner.ts')).prepareRunner(config, engines.logger)
      : undefined
    if (preparing) running.push(preparing)
    const hosting =
      engines.localCodeHost && services.has('codehost')
        ? beginCodeHost(config, repos, engines.logger, engines.localCodeHost)
        : undefined
    if (hosting) running.push(hosting)
    // Meanwhile the trial of the sandbox and the start of the code host go on.
    await loadCode(services)
    await hosting?.started
    // Only one process at a time updates the read models, and only one dispatches jobs. Other processes with these services stand by.
    if (services.has('query')) {
      const [{ startProjector }, { onThreads }] = await Promise.all([
        import('./query/projection/projector.ts'),
        import('./query/projection/rebuildThread.ts'),
      ])
      const rebuilding = onThreads(config, engines)
      const tell = telling(details, 'quarantine')
      running.push(engines.leases.hold('projector', () => startProjector(engines, rebuilding, tell)))
    }
    if (services.has('command')) {
      const { startDispatcher } = await import('./command/dispatcher.ts')
      running.push(engines.leases.hold('dispatcher', () => startDispatcher(engines)))
    }
    if (services.has('maintenance')) {
      const { startMaintenance } = await import('./maintenance/maintenance.ts')
      running.push(...startMaintenance(engines))
      running.push(...(await startSealing(config, engines, details)))
    }
    if (services.has('github')) {
      const { startGitHub } = await import('./github/github.ts')
      running.push(...startGitHub(config, engines))
    }
    const agents = startAgents(engines.bus, engines.modelKeys)
    running.push({ stop: async () => agents.stop() })
    const apis = await apisOf(config, engines, agents)
    let ofRunner: SandboxPorts | undefined
    const sandboxes: SandboxPorts | null = services.has('runner')
      ? { of: (taskId) => ofRunner?.of(taskId) ?? [] }
      : null
    // The server starts before the runner, so that the server gets the runner's first message.
    running.push(
      ...(await startDoor(config, { ...engines, agents, sandboxes }, apis, () => ({
        ...Object.fromEntries(details),
        ...engines.ballast.details(),
      }))),
    )
    if (preparing) {
      const { startRunner } = await import('./runner/runner.ts')
      const runner = await startRunner(config, engines, await preparing.prepared)
      ofRunner = runner.sandboxPorts
      details.set('runner', runner.ofSandboxes)
      details.set('workspaceLimit', [runner.workspaceLimit])
      running.push(runner)
    }
    return running
  } catch (fault) {
    await stopAll(running)
    throw fault
  }
}

/** Starts the sealer, unless sealing is turned off. The sealer's warnings for the operator are shown in `/readyz`. */
async function startSealing(
  config: Config,
  engines: Engines,
  details: Map<string, readonly string[]>,
): Promise<Running[]> {
  const { everyMs, file, git, witness: witnessUrl } = config.seals
  if (everyMs === null) return []
  const [{ startSealer }, { gitPlace }, { witness }] = await Promise.all([
    import('./maintenance/sealer.ts'),
    import('#platform/seals/gitPlace.ts'),
    import('#platform/seals/witness.ts'),
  ])
  const folder = join(config.dataDir, 'seals.git')
  const places = [
    ...(git === null ? [] : [gitPlace({ repository: git, folder, environment: config.environment })]),
    ...(witnessUrl === null ? [] : [witness(witnessUrl)]),
  ]
  const tell = telling(details, 'seals')
  return [
    engines.leases.hold('sealer', () => startSealer(engines, { intervalMs: everyMs, file, places, tell })),
  ]
}

/** Returns a function that replaces the sentences which `/readyz` shows to the operator for `part`. */
function telling(details: Map<string, readonly string[]>, part: string) {
  return (sentences: readonly string[]): void => {
    if (sentences.length === 0) details.delete(part)
    else details.set(part, sentences)
  }
}

/** The handlers of the API services (command and query) that run in this process. */
async function apisOf(
  config: Config,
  engines: Engines,
  agents: Agents,
): Promise<ReadonlyMap<Callee, Middleware>> {
  const mounting = { fresh: () => engines.ids.uuid(), idempotency: engines.idempotency }
  const apis = new Map<Callee, Middleware>()
  if (config.services.has('command')) {
    const { commandApi } = await import('./command/command.ts')
    apis.set('command', commandApi(engines, { ...config, agents, models: modelPlaces(config) }, mounting))
  }
  if (config.services.has('query')) {
    const { queryApi } = await import('./query/query.ts')
    const known = { isSealing: config.seals.everyMs !== null, publicAddress: knownAddressForCodeHost(config) }
    apis.set('query', queryApi({ ...engines, ...known }, mounting))
  }
  return apis
}

function modelPlaces({ agents, privateEgress }: Config) {
  const addresses = {
    anthropic: agents.claude.baseUrl ?? '',
    openai: agents.codex.baseUrl ?? '',
    google: agents.gemini.baseUrl ?? '',
  }
  return { addresses, mayReachPrivate: privateEgress }
}

interface DoorEngines extends Engines {
  readonly agents: Agents
  /** The sandboxes of this process; `null` when it has none. */
  readonly sandboxes: SandboxPorts | null
}

/** Starts the server on the process's port. With the gateway it serves the whole product, without it only the calls of other Flightdeck processes. */
async function startDoor(
  config: Config,
  { agents, sandboxes, ...engines }: DoorEngines,
  apis: ReadonlyMap<Callee, Middleware>,
  details: Details,
): Promise<Running[]> {
  const { host, port, services } = config
  const tokens = serviceTokens(engines)
  if (!services.has('gateway')) {
    const { startServiceApp } = await import('#platform/http/serviceApp.ts')
    return [
      await startServiceApp({ apis, host, port, parts: engines.parts, details }, { ...engines, tokens }),
    ]
  }
  const [{ startGateway }, { upstream }, { startMissedDeliveries }] = await Promise.all([
    import('./gateway/gateway.ts'),
    import('./gateway/http/upstream.ts'),
    import('./gateway/webhooks/missedDeliveries.ts'),
  ])
  const parts = new Map(engines.parts)
  const upstreams: Running[] = []
  const answering = (service: Callee): Middleware => {
    const here = apis.get(service)
    if (here) return here
    const url = config.upstreams[service]
    if (url === null) throw new Error(`Nobody answers for the ${service} service.`)
    const there = upstream({ service, url }, { ...engines, tokens })
    parts.set(service, there.ready)
    upstreams.push({ stop: async () => there.close() })
    return there.middleware
  }
  const [command, query] = [answering('command'), answering('query')]
  const notices = startNotices(engines.bus)
  const secrets = webhookSecrets(engines.hostApp, config.following)
  const gateway = await startGateway(
    {
      host,
      port,
      publicUrl: config.publicUrl,
      previewHost: config.previewHost,
      sandboxes,
      proxies: config.proxies,
      strangersOfAddress: config.strangersOfAddress,
      requestsAMinute: config.requestsAMinute,
      codeHostName: codeHostName(config),
      pictureOrigins: pictureOrigins(config),
      passwordSignIn: config.passwordSignIn,
      webhookSecrets: secrets,
      webFolder: fileURLToPath(new URL('../web', import.meta.url)),
      verifierFile: fileURLToPath(new URL('flightdeck-verify.mjs', import.meta.url)),
      notices: notices.read,
      agents: agents.read,
      query,
      command,
      parts,
      details,
    },
    engines,
  )
  const missed = engines.leases.hold('missed deliveries', async () =>
    startMissedDeliveries(engines, async () => (await secrets()).length > 0),
  )
  return [...upstreams, { stop: async () => notices.stop() }, gateway, missed]
}

/** Stops the parts in the opposite order of their start, so that none loses a part that it depends on. */
async function stopAll(running: readonly Running[]): Promise<void> {
  for (const part of running.toReversed()) await part.stop()
}

const readiness = new EventEmitter()
/** Resolves when the services of this process are ready; never for an operation. */
export const ready: Promise<unknown> = once(readiness, 'ready')

async function main(): Promise<void> {
  // A server outlives its terminal; an operation whose lines nobody could read has failed.
  process.stdout.on('error', () => (process.exitCode = 1))
  const { repos, help, data, withKey, words } = readArguments()
  if (help) {
    print(`${usage}${describeVariables()}`)
    return
  }
  const standalone = standaloneOf(words, withKey)
  const readModelOperation = standalone ? undefined : readModelOperationOf(words)
  const operation = standalone || readModelOperation ? undefined : operationOf(words)
  const config = readConfig(data === undefined ? process.env : { ...process.env, DATA_DIR: data })
  for (const name of config.unused) print(`${name} is set and has no effect here.`)
  // Signals are handled from here on, so that a start can be aborted in an orderly way.
  const asked = askedToStop(stopMs + config.drainMs)
  const [{ openEngines, openReadModels }, { logger }] = await Promise.all([
    import('#platform/compose.ts'),
    import('#platform/log.ts'),
  ])
  const log = logger(config.logLevel, { service: processName(config.services) })
  if (standalone) {
    const work = { config, logger: log, progress: printOver }
    const answer = await Promise.race([standalone(work), asked])
    // A signal ended the wait before there was an answer. What is left behind now, the next run removes or continues.
    if (!answer) process.exit(1)
    tell(answer)
    return
  }
  if (readModelOperation) {
    const readStore = await openReadModels(config, print)
    try {
      const answer = await Promise.race([readModelOperation({ readStore, progress: printOver }), asked])
      // Without an answer, this command was aborted. The running product, which rebuilds the read models, continues.
      if (!answer) process.exit(0)
      tell(answer)
    } finally {
      await readStore.close()
    }
    return
  }
  if (operation) requireLog(config)
  // An operation runs without services. On shared engines, it then needs no lock on the data folder, which the running product holds.
  const opening = openEngines(operation ? { ...config, services: new Set() } : config, log, print)
  // No service runs while the engines are being opened, so the process can simply exit.
  const engines = await Promise.race([opening, asked])
  if (!engines) process.exit(operation ? 1 : 0)
  if (operation) {
    try {
      const { sealsFile } = await import('#platform/seals/sealsFile.ts')
      const context = { ...engines, sealsFile: sealsFile(config.seals.file), progress: printOver }
      const answer = await Promise.race([operation(context), asked])
      // An aborted operation must not look like one that is done.
      if (!answer) process.exit(1)
      tell(answer)
    } finally {
      await engines.close()
    }
    return
  }
  let running: Running[]
  try {
    running = await startServices(config, repos, engines)
  } catch (fault) {
    await engines.close()
    throw fault
  }
  if (config.services.has('query')) await readableSoon(engines, asked)
  for (const line of await readyLines(config, engines)) print(line)
  readiness.emit('ready')
  await recordApp(config, engines)

  await asked
  try {
    await stopAll(running)
    await engines.close()
  } catch (fault) {
    log.error({ err: fault }, 'stopping failed')
  }
  process.exit(0)
}

/**
 * Resolves when all read models can be read, when the process is asked to stop, or after `readableWithinMs`. If they cannot be read then, prints that
 * reads are refused until the rebuild is done.
 */
async function readableSoon({ readStore }: Engines, asked: Promise<void>): Promise<void> {
  const stopping = new AbortController()
  void asked.then(() => stopping.abort())
  for (
    const end = performance.now() + readableWithinMs;
    performance.now() < end && !stopping.signal.aborted;
  ) {
    if (isReadable(await readStore.catalog().catch(() => emptyCatalog))) return
    await pause(betweenLooksMs)
  }
  print('Read models are being rebuilt from the log. Reads are refused until that is done.')
}

function tell({ lines, failed = false }: OperationResult): void {
  // Damaged data may contain anything, so control characters are replaced.
  for (const line of lines) print(line.replaceAll(/\p{Cc}/gu, '\uFFFD'))
  if (failed) process.exitCode = 1
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Shows progress, if a person is watching the terminal. */
function printOver(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${line}`)
}

/** The lines that are printed when the server is ready, also about how to create an App and about `GITHUB_TOKEN` where that is needed. */
async function readyLines(config: Config, engines: Engines): Promise<readonly string[]> {
  if (!config.services.has('gateway'))
    return [`Flightdeck is ready: ${namedServices(config.services).join(', ')} on port ${config.port}`]
  const address = publicAddress(config)
  const [{ setupLine }, { ownTokenLine }] = await Promise.all([
    import('./gateway/setup/announce.ts'),
    import('./gateway/setup/announce.ts'),
  ])
  const place = { address, dataDir: config.dataDir, hostName: codeHostName(config) }
  const lines = [await setupLine(place, engines), await ownTokenLine(engines.codeHost)]
  return [`Flightdeck is ready: ${address}`, ...lines.filter((line) => line !== null)]
}

/** Records in the audit log that an App was created at `/setup`, if that record is missing. */
async function recordApp({ services, codeHost }: Config, engines: Engines): Promise<void> {
  if (!services.has('gateway') || codeHost.kind !== 'github' || codeHost.app !== null) return
  const { recordUnrecordedApp } = await import('./gateway/setup/registerApp.ts')
  await recordUnrecordedApp(engines).catch((fault: unknown) =>
    engines.logger.error({ err: fault }, 'the GitHub App that was made is missing in the audit log'),
  )
}

/** Resolves at the first SIGTERM or Ctrl-C. The process then ends after `endMs` at the latest. */
function askedToStop(endMs: number): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      resolve()
      // Ends the process even if work is unfinished: the next start finds that work in the log.
      setTimeout(() => process.exit(0), endMs).unref()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}

/** The text to print for a fault, with advice where a person can fix the fault. */
function sentenceOf(fault: unknown): string {
  if (fault instanceof BadConfig) return fault.faults.join('\n')
  if (!(fault instanceof Error)) return String(fault)
  if ('code' in fault && fault.code === 'EADDRINUSE') {
    const taken = 'port' in fault ? ` ${String(fault.port)}` : ''
    return `Port${taken} is in use. Stop the program that uses it, or set PORT, CODEHOST_PORT or METRICS_PORT to another.`
  }
  if ('code' in fault && fault.code === 'EADDRNOTAVAIL') {
    const address = 'address' in fault ? String(fault.address) : 'The address'
    return `${address} is not an address of this machine. Set HOST or METRICS_HOST to one that is.`
  }
  if (fault instanceof UnknownWords) return `${fault.message}\n\n${usageOf(fault.command)}`
  if ('code' in fault && String(fault.code).startsWith('ERR_PARSE_ARGS_'))
    return `${fault.message}\n\n${usage}${describeVariables()}`
  return fault.message
}

main().catch((fault: unknown) => {
  process.stderr.write(`${sentenceOf(fault)}\n`)
  process.exitCode = 1
})
