/** Opens the configured sandbox, as far as this machine supports it: bubblewrap, a container engine, or none. */
import type { Config } from '#platform/config/config.ts'
import type { AvailableSandbox } from '../deps.ts'
import type { Scratch } from '../scratch.ts'
import type { Git } from '../workspace/git/git.ts'
import { detectBubblewrap } from './bubblewrap/detect.ts'
import type { ContainerSandbox } from './container/container.ts'
import { detectContainers, socketsThere, type DetectedContainers } from './container/detect.ts'
import { sandboxDockerfile } from './container/image.ts'
import { noSandbox } from './none.ts'
import type { Sandbox } from './port.ts'
import { notAllowed, type Detected } from './probe.ts'

export interface OpenedSandbox {
  readonly sandbox: AvailableSandbox
  /** A notice about the sandbox for the dashboard; `null` for none. */
  readonly notice: string | null
  /** Sentences that say why only the scripted model may run in the sandbox; `null` when real models may run. */
  readonly onlyScripted: string | null
  /** A sentence or two for each guarantee that a sandbox usually gives but this sandbox does not; empty without a sandbox. */
  readonly shortcomings: readonly string[]
  /**
   * Sentences about the sandbox: why it is a container, if it was not asked for, how it counts memory, and which host toolchains it shows. Empty
   * without a sandbox.
   */
  readonly about: readonly string[]
  /** Ends everything that serves the sandboxes, such as containers for git calls, but not the sandboxes themselves. */
  close(): Promise<void>
}

interface SandboxPlaces {
  readonly root: string
  readonly git: Git
  readonly runnerId: string
  readonly scratch: Scratch
  /** Called with lines for the operator, while an image is built. */
  readonly progress: (line: string) => void
}

const unsandboxedNotice =
  'Agents run without a sandbox on this server. They can read and change everything the server can.'
const close = async () => undefined

/**
 * Opens the sandbox. If there is none, or one with shortcomings that the operator must allow and did not, a server with a key for a real model runs
 * nothing (`missing`), and another server only the scripted model, whose commands we wrote. SANDBOX=none allows every model. Throws an error for the
 * operator if SANDBOX=container is impossible.
 */
export async function openSandbox(config: Config, places: SandboxPlaces): Promise<OpenedSandbox> {
  const { path } = config
  const none = noSandbox({ path, git: places.git })
  if (config.sandbox === 'none')
    return {
      sandbox: none,
      notice: unsandboxedNotice,
      onlyScripted: null,
      shortcomings: [],
      about: [],
      close,
    }
  if (config.sandbox === 'container') {
    const detected = await tryContainers(config, places, config.containers.sockets)
    if (detected.kind === 'fails') throw new Error(`SANDBOX=container: ${detected.why}`)
    return ofContainers(config, detected)
  }
  const toolchains = { environment: config.environment, allowed: config.toolchains }
  const detected = await detectBubblewrap({ path, root: places.root, gitProgram: 'git', toolchains })
  if (detected.kind === 'works') return { ...unlessTooWeak(config, detected), close }
  const sockets = config.sandbox === 'auto' ? await socketsThere(config.containers.sockets) : []
  if (sockets.length === 0) return withoutSandbox(config, detected.why, none)
  const other = await tryContainers(config, places, sockets)
  if (other.kind === 'fails') return withoutSandbox(config, `${detected.why} ${other.why}`, none)
  const opened = ofContainers(config, other)
  return {
    ...opened,
    about: [`Sandboxes are containers of ${other.version}. ${detected.why}`, ...opened.about],
  }
}

function tryContainers(
  { path, containers }: Config,
  { root, runnerId, scratch, progress }: SandboxPlaces,
  sockets: readonly string[],
): Promise<DetectedContainers> {
  const { image, buildArguments, shared } = containers
  return detectContainers({
    sockets,
    image: { named: image, dockerfile: sandboxDockerfile, buildArguments, progress },
    shared,
    root,
    runnerId,
    scratch,
    path,
    node: process.execPath,
  })
}

type WorkingSandbox<Kind extends Sandbox = Sandbox> = Extract<Detected<Kind>, { kind: 'works' }>

function ofContainers(config: Config, detected: WorkingSandbox<ContainerSandbox>): OpenedSandbox {
  return { ...unlessTooWeak(config, detected), close: () => detected.sandbox.close() }
}

function withoutSandbox(config: Config, reason: string, none: Sandbox): OpenedSandbox {
  const why = `There is no sandbox for agents here. ${reason}`
  const missing = `${why} SANDBOX=none runs agents without one, at your own risk.`
  const nothing = { onlyScripted: missing, shortcomings: [], about: [], close }
  if (!hasRealModel(config)) {
    const notice = `${why} Until then only the scripted model runs, without one.`
    return { sandbox: none, notice, ...nothing }
  }
  return { sandbox: { missing }, notice: why, ...nothing }
}

/** The opened sandbox; `missing` if it is too weak and a real model could run in it. */
function unlessTooWeak(
  config: Config,
  { sandbox, shortcomings, memory, toolchains = [] }: WorkingSandbox,
): Omit<OpenedSandbox, 'close'> {
  const shown = toolchains.length > 0 ? [`Sandboxes can use these toolchains: ${toolchains.join(', ')}.`] : []
  const lacks = { shortcomings: shortcomings.map(({ says }) => says), about: [memory, ...shown] }
  const wanting = notAllowed(shortcomings, config.weakerSandbox)
  if (wanting.length === 0) return { sandbox, notice: null, onlyScripted: null, ...lacks }
  const lacking = shortcomings.filter(({ name }) => name !== null && wanting.includes(name))
  const why = `The sandbox for agents is weaker here than it should be. ${lacking.map((each) => each.says).join(' ')}`
  const missing = `${why} ALLOW_WEAKER_SANDBOX=${[...config.weakerSandbox, ...wanting].join(',')} runs agents in it, at your own risk.`
  const only = { onlyScripted: missing, ...lacks }
  if (!hasRealModel(config))
    return { sandbox, notice: `${why} Until then only the scripted model runs.`, ...only }
  return { sandbox: { missing }, notice: why, ...only }
}

/**
 * Whether the server has a key for a real model. The keys of people and projects do not matter, because `onlyScripted` keeps them from being used.
 */
function hasRealModel({ agents }: Config): boolean {
  return Object.values(agents).some(({ apiKey }) => apiKey !== undefined)
}
