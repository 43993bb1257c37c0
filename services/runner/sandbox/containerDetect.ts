/** Finds out whether the container engine can make boxes, by making one. */
import { containerSandbox, type ContainerSandbox } from './container.ts'
import { containerEngine, EngineFault } from './containerEngine.ts'
import { removeContainers, type ContainerOptions } from './containerOptions.ts'
import { boxFault, boxShortcomings, withTrialWorkspace } from './detect.ts'
import type { Shortcoming } from './shortcomings.ts'

export type DetectedContainers =
  | {
      readonly kind: 'works'
      readonly sandbox: ContainerSandbox
      readonly version: string
      readonly shortcomings: readonly Shortcoming[]
      /** How the memory of a box is counted: a sentence. */
      readonly memory: string
    }
  /** Why not, and what to do about it: a sentence or two for the operator. */
  | { readonly kind: 'fails'; readonly why: string }

export interface DetectContainersRequest extends Omit<ContainerOptions, 'engine' | 'image' | 'ownUser'> {
  /** Where the engine listens. */
  readonly socketPath: string
  /** The name of the image that boxes are made of. */
  readonly image: string
  /** A folder that exists, where workspaces will lie: the trial box is made from there. */
  readonly root: string
}

/** Takes away what an earlier run of this runner left, and tries a box. Takes about 2 s, 2 min at most. */
export async function detectContainers(request: DetectContainersRequest): Promise<DetectedContainers> {
  const { socketPath, image: imageName, root, ...rest } = request
  const { getuid, getgid } = process
  if (process.platform !== 'linux' || !getuid || !getgid)
    return { kind: 'fails', why: 'Container boxes require Linux, with the engine on the same machine.' }
  const engine = containerEngine(socketPath)
  try {
    const version = await engine.version()
    const image = await engine.image(imageName)
    if (!image) return { kind: 'fails', why: `${version} has no image ${imageName}. ${howToGetTheImage}` }
    const options = { ...rest, engine, image, ownUser: { uid: getuid(), gid: getgid() } }
    await removeContainers(options)
    const sandbox = containerSandbox(options)
    const tried = await withTrialWorkspace(root, async (workspace) => {
      const fault = await boxFault(sandbox, workspace, options.node)
      return fault ?? (await boxShortcomings(sandbox, workspace))
    }).catch((fault: unknown) => (fault instanceof Error ? fault.message : String(fault)))
    await sandbox.close()
    const memory = (await engine.limitsMemory())
      ? `The memory of a box is counted by the kernel, as ${version} asks it to.`
      : `The memory of a box is counted by nobody: ${version} cannot bound it here, as the engine has no control group of its own that counts memory.`
    if (typeof tried !== 'string') return { kind: 'works', sandbox, version, shortcomings: tried, memory }
    return { kind: 'fails', why: `${version} cannot make a box of ${imageName} here (${tried}).` }
  } catch (fault) {
    if (!(fault instanceof EngineFault)) throw fault
    return { kind: 'fails', why: `The container engine cannot be used: ${fault.message}. ${howToReach}` }
  }
}

const howToReach = 'Start it, and name its socket in CONTAINER_HOST (unix:///var/run/docker.sock).'
const howToGetTheImage =
  'Build it (`docker build --target runner --tag flightdeck/runner .`) or pull one, and name it in CONTAINER_IMAGE.'
