/** Prepares what a runner needs from this machine. Other services can start at the same time, because trying the sandbox mostly means waiting. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '#platform/config/config.ts'
import type { Logger } from '#platform/log.ts'
import { runnerIdIn } from './queue/taskAffinity.ts'
import { openSandbox, type OpenedSandbox } from './sandbox/openSandbox.ts'
import { openScratch, type Scratch } from './scratch.ts'
import { hostGit, type HostGit } from './workspace/git/git.ts'

export interface PreparedRunner {
  /** The folder of the runner's data. */
  readonly root: string
  readonly runnerId: string
  readonly git: HostGit
  readonly scratch: Scratch
  readonly opened: OpenedSandbox
}

/** Begins to prepare a runner. Only one process at a time may use the data folder. `stop` waits for the preparation, and closes what was opened. */
export function prepareRunner(config: Config, logger: Logger) {
  const prepared = prepare(config, logger)
  const stop = () =>
    prepared.then(
      ({ opened }) => opened.close(),
      () => undefined,
    )
  // Until the runner starts, nobody waits for this promise, so its failure must not count as unhandled.
  prepared.catch(() => undefined)
  return { prepared, stop }
}

/** Throws an error whose message is a sentence if SANDBOX=container is impossible. */
async function prepare(config: Config, logger: Logger): Promise<PreparedRunner> {
  const root = join(config.dataDir, 'runner')
  mkdirSync(root, { recursive: true, mode: 0o711 })
  const certificates = config.environment['GIT_SSL_CAINFO'] || undefined
  const git = hostGit({ program: 'git', path: config.path, certificates })
  const runnerId = runnerIdIn(root)
  const scratch = await openScratch(runnerId)
  const progress = (line: string): void => logger.warn(line)
  const opened = await openSandbox(config, { root, git, runnerId, scratch, progress })
  return { root, runnerId, git, scratch, opened }
}
