/** Finds out whether a container engine works on this machine, by making a sandbox. */
import { stat } from 'node:fs/promises'
import { trySandbox, withTrialWorkspace, type Detected } from '../probe.ts'
import { containerSandbox, type ContainerSandbox } from './container.ts'
import { containerEngine, EngineFault, type ContainerEngine, type ContainerImage } from './engine.ts'
import { findOrBuildImage, type ImageRequest } from './image.ts'
import { runnerLabel, type ContainerOptions } from './options.ts'

export interface DetectContainersRequest extends Omit<ContainerOptions, 'engine' | 'image' | 'ownUser'> {
  /** The sockets at which engines may listen. The first socket that answers is used. */
  readonly sockets: readonly string[]
  readonly image: ImageRequest
  /** An existing folder that will contain the workspaces. The workspace of the trial sandbox is made in it, too. */
  readonly root: string
}

export type DetectedContainers = Detected<ContainerSandbox, { readonly version: string }>

/**
 * Uses the first engine that answers. Finds or builds the image, removes containers that an earlier process of this runner left, and tries a sandbox.
 * Takes about 2 s, at most 2 min, and once up to 15 min for the image.
 */
export async function detectContainers(request: DetectContainersRequest): Promise<DetectedContainers> {
  if (process.platform !== 'linux')
    return { kind: 'fails', why: 'Container sandboxes require Linux, with the engine on the same machine.' }
  try {
    const found = await findEngine(request.sockets)
    if (typeof found === 'string') return { kind: 'fails', why: `${found} ${howToReach}` }
    const image = await findOrBuildImage(found.engine, request.image)
    if (typeof image === 'string') return { kind: 'fails', why: `${found.version}: ${image}.` }
    return await tryOut(found, image, request)
  } catch (fault) {
    if (!(fault instanceof EngineFault)) throw fault
    return { kind: 'fails', why: `The container engine cannot be used: ${fault.message}. ${howToReach}` }
  }
}

/** The paths among `sockets` at which there is a socket. */
export async function socketsThere(sockets: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(sockets.map((path) => stat(path).catch(() => undefined)))
  return sockets.filter((_, index) => found[index]?.isSocket())
}

interface FoundEngine {
  readonly engine: ContainerEngine
  readonly version: string
}

/** The first container engine of `sockets` that can be used, or a sentence that says why there is none. */
async function findEngine(sockets: readonly string[]): Promise<FoundEngine | string> {
  const faults: string[] = []
  for (const socketPath of sockets) {
    const engine = containerEngine(socketPath)
    try {
      return { engine, version: await engine.version() }
    } catch (fault) {
      if (!(fault instanceof EngineFault)) throw fault
      faults.push(fault.message)
    }
  }
  return `The container engine cannot be used: ${faults.join('; ')}.`
}

async function tryOut(
  { engine, version }: FoundEngine,
  image: ContainerImage,
  request: DetectContainersRequest,
): Promise<DetectedContainers> {
  const ownUser = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const options = { ...request, engine, image, ownUser }
  // Removes the containers that an earlier process of this runner left when it was killed.
  const left = await engine.labelled(runnerLabel, request.runnerId)
  await Promise.all(left.map((id) => engine.remove(id)))
  const sandbox = containerSandbox(options)
  const tried = await withTrialWorkspace(request.root, (workspace) =>
    trySandbox(sandbox, workspace, options.node),
  ).catch((fault: unknown) => (fault instanceof Error ? fault.message : String(fault)))
  await sandbox.close()
  if (typeof tried === 'string')
    return {
      kind: 'fails',
      why: `${version} cannot make a sandbox of ${request.image.named ?? 'our image'} here (${tried}).`,
    }
  const memory = (await engine.limitsMemory())
    ? `The memory of a sandbox is counted by the kernel, as ${version} asks it to.`
    : `The memory of a sandbox is counted by nobody: ${version} cannot bound it here, as the engine has no control group of its own that counts memory.`
  return { kind: 'works', sandbox, version, shortcomings: tried, memory }
}

const howToReach = 'Start it, and name its socket in CONTAINER_HOST (unix:///var/run/docker.sock).'
