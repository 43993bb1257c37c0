/** The only entry: reads the configuration, opens the engines, starts the services, and ends them in turn. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { BadConfig, describeVariables, readConfig, type Config } from '#platform/config.ts'
import type { Engines } from '#platform/compose.ts'

/** A part that runs until it is stopped; `stop` resolves when nothing of it is left. */
interface Running {
  stop(): Promise<void>
}

const drainMs = 9_000

const usage = `Usage: npm start -- [--repo <path or git URL>]... [--help]

  --repo <path or git URL>  brings a repository into the local code host, under ada; may be given more than once
  --help                    shows this

Variables of the environment:
`

function readArguments(): { repos: string[]; help: boolean } {
  const { values } = parseArgs({
    options: {
      repo: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  })
  return { repos: values.repo, help: values.help }
}

/** Starts the services in the order in which they need each other; what was started is stopped when a later one fails. */
async function startServices(config: Config, repos: readonly string[], engines: Engines): Promise<Running[]> {
  const running: Running[] = []
  try {
    if (engines.localCodeHost) {
      const { startCodeHost } = await import('./codehost/codehost.ts')
      running.push(
        await startCodeHost({
          ...engines.localCodeHost,
          dataDir: join(config.dataDir, 'codehost'),
          host: config.host,
          port: config.codeHostPort,
          ...(config.publicUrl === null
            ? {}
            : { redirectUris: [new URL('/api/auth/github/callback', config.publicUrl).href] }),
          seeds: repos.map((source) => ({ source })),
          environment: config.environment,
          log: (line) => engines.logger.info(line),
        }),
      )
    }
    const [
      { startProjector },
      { queryApi },
      { startDispatcher },
      { commandApi },
      { startRunner },
      { startGateway },
    ] = await Promise.all([
      import('./query/projector.ts'),
      import('./query/query.ts'),
      import('./command/dispatcher.ts'),
      import('./command/command.ts'),
      import('./runner/runner.ts'),
      import('./gateway/gateway.ts'),
    ])
    running.push(await startProjector(engines))
    running.push(await startDispatcher(engines))
    const runner = await startRunner(config, engines)
    running.push(runner)
    const fresh = () => engines.ids.uuid()
    running.push(
      await startGateway(
        {
          host: config.host,
          port: config.port,
          publicUrl: config.publicUrl,
          codeHostName: engines.localCodeHost ? 'local' : hostNameOf(config),
          webFolder: new URL('../web', import.meta.url).pathname,
          notices: runner.notices,
          query: queryApi(engines, fresh),
          command: commandApi(engines, fresh),
          parts: engines.parts,
        },
        engines,
      ),
    )
    return running
  } catch (fault) {
    await stopAll(running)
    throw fault
  }
}

function hostNameOf({ codeHost }: Config): string {
  return codeHost.kind === 'github' ? new URL(codeHost.serverUrl).hostname : 'local'
}

/** The last that was started stops first: nothing loses what it leans on. */
async function stopAll(running: readonly Running[]): Promise<void> {
  for (const part of running.toReversed()) await part.stop()
}

async function main(): Promise<void> {
  const { repos, help } = readArguments()
  if (help) {
    process.stdout.write(`${usage}${describeVariables()}\n`)
    return
  }
  const config = readConfig(process.env)
  for (const name of config.unused) process.stdout.write(`${name} is set and has no effect yet.\n`)
  // Heard from here on, so that a start is ended as orderly as a run.
  const asked = askedToStop()
  const [{ openEngines }, { logger }] = await Promise.all([
    import('#platform/compose.ts'),
    import('#platform/log.ts'),
  ])
  const log = logger(config.logLevel)
  const engines = await openEngines(config, log)
  let running: Running[]
  try {
    running = await startServices(config, repos, engines)
  } catch (fault) {
    await engines.close()
    throw fault
  }
  process.stdout.write(`Flightdeck is ready: ${config.publicUrl ?? `http://localhost:${config.port}`}\n`)

  await asked
  try {
    await stopAll(running)
    await engines.close()
  } catch (fault) {
    log.error({ err: fault }, 'stopping failed')
  }
  process.exit(0)
}

/** Resolves at the first SIGTERM or Ctrl-C. From then on the process has a limited time. */
function askedToStop(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      resolve()
      // What cannot be drained in time is left to the next start, which finds it in the log.
      setTimeout(() => process.exit(0), drainMs).unref()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}

/** What a person can mend is said in a sentence; a defect is said whole. */
function sentenceOf(fault: unknown): string {
  if (fault instanceof BadConfig) return fault.faults.join('\n')
  if (!(fault instanceof Error)) return String(fault)
  if ('code' in fault && fault.code === 'EADDRINUSE') {
    const taken = 'port' in fault ? ` ${String(fault.port)}` : ''
    return `Port${taken} is in use. Stop what uses it, or set PORT or CODEHOST_PORT to another.`
  }
  if ('code' in fault && String(fault.code).startsWith('ERR_PARSE_ARGS_'))
    return `${fault.message}\n\n${usage}${describeVariables()}`
  return fault.message
}

try {
  await main()
} catch (fault) {
  process.stderr.write(`${sentenceOf(fault)}\n`)
  process.exitCode = 1
}
