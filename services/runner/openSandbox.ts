/** Chooses the sandbox that the configuration asks for, as far as this machine can make it. */
import type { Config } from '#platform/config/config.ts'
import type { AvailableSandbox } from './deps.ts'
import { detectContainers } from './sandbox/containerDetect.ts'
import { detectBubblewrap } from './sandbox/detect.ts'
import { noSandbox } from './sandbox/none.ts'
import type { Sandbox } from './sandbox/port.ts'
import { notAllowed, type Shortcoming } from './sandbox/shortcomings.ts'
import type { Scratch } from './scratch.ts'
import type { Git } from './workspace/git/git.ts'

export interface OpenedSandbox {
  readonly sandbox: AvailableSandbox
  /** What every page tells people about it, if anything. */
  readonly notice: string | null
  /** What it lacks of what a sandbox promises, in sentences. */
  readonly shortcomings: readonly string[]
  /** How its memory is counted, where there is a sandbox: a sentence. */
  readonly memory: readonly string[]
  /** Ends what it runs besides the sandboxes themselves. */
  close(): Promise<void>
}

interface SandboxPlaces {
  readonly root: string
  readonly git: Git
  readonly runnerId: string
  readonly scratch: Scratch
}

const unsandboxedNotice =
  'Agents run without a sandbox on this server. They can read and change everything the server can.'
const close = async () => undefined

/**
 * Without a sandbox the scripted model may run, whose commands we wrote, and a real one may not; nor may it run in a sandbox with shortcomings
 * that were not allowed. Throws a sentence when an engine that was asked for by name makes no sandboxes.
 */
export async function openSandbox(config: Config, places: SandboxPlaces): Promise<OpenedSandbox> {
  const { path } = config
  const none = noSandbox({ path, git: places.git })
  switch (config.sandbox) {
    case 'none':
      return { sandbox: none, notice: unsandboxedNotice, shortcomings: [], memory: [], close }
    case 'container':
      return openContainers(config, places)
    case 'bubblewrap': {
      const detected = await detectBubblewrap({ path, root: places.root, gitProgram: 'git' })
      return detected.kind === 'works'
        ? { ...asAllowed(config, detected), memory: [detected.memory], close }
        : withoutSandbox(config, detected.why, none)
    }
  }
}

async function openContainers(
  config: Config,
  { root, runnerId, scratch }: SandboxPlaces,
): Promise<OpenedSandbox> {
  const { path, containers } = config
  const detected = await detectContainers({
    ...containers,
    root,
    runnerId,
    scratch,
    path,
    gitProgram: 'git',
    node: process.execPath,
  })
  if (detected.kind === 'fails') throw new Error(`SANDBOX=container: ${detected.why}`)
  return {
    ...asAllowed(config, detected),
    memory: [detected.memory],
    close: () => detected.sandbox.close(),
  }
}

function withoutSandbox(config: Config, reason: string, none: Sandbox): OpenedSandbox {
  const why = `There is no box for agents here. ${reason}`
  const nothing = { shortcomings: [], memory: [], close }
  if (!hasRealModel(config)) {
    const notice = `${why} Until then only the scripted model runs, without one.`
    return { sandbox: none, notice, ...nothing }
  }
  const missing = `${why} SANDBOX=none runs agents without one, at your own risk.`
  return { sandbox: { missing }, notice: why, ...nothing }
}

/** A sandbox that works, unless it is weaker than a real model may have it. */
function asAllowed(
  config: Config,
  { sandbox, shortcomings }: { readonly sandbox: Sandbox; readonly shortcomings: readonly Shortcoming[] },
): Omit<OpenedSandbox, 'memory' | 'close'> {
  const sentences = shortcomings.map((shortcoming) => shortcoming.says)
  const wanting = notAllowed(shortcomings, config.weakerBox)
  if (wanting.length === 0) return { sandbox, notice: null, shortcomings: sentences }
  const lacking = shortcomings.filter(({ name }) => name !== null && wanting.includes(name))
  const why = `The box for agents is weaker here than it should be. ${lacking.map((each) => each.says).join(' ')}`
  if (!hasRealModel(config))
    return { sandbox, notice: `${why} Until then only the scripted model runs.`, shortcomings: sentences }
  const missing = `${why} ALLOW_WEAKER_BOX=${[...config.weakerBox, ...wanting].join(',')} runs agents in it, at your own risk.`
  return { sandbox: { missing }, notice: why, shortcomings: sentences }
}

/** Whether anything but our own script may tell an agent what to do. */
function hasRealModel({ model, cursor }: Config): boolean {
  return model.kind !== 'scripted' || cursor.apiKey !== undefined
}
