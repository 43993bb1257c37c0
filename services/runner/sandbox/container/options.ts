/** The configuration of sandboxes with a container engine. */
import type { Scratch } from '../../scratch.ts'
import type { SandboxUser } from '../../workspace/workspace.ts'
import type { ContainerEngine, ContainerImage } from './engine.ts'
import { engineSees, type ContainerMount } from './createRequest.ts'

export interface ContainerOptions {
  readonly engine: ContainerEngine
  readonly image: ContainerImage
  readonly scratch: Scratch
  /** The `PATH` in which `mkfifo`, the program that makes named pipes, is found. */
  readonly path: string
  /** The runner's id, which is a label of its containers. */
  readonly runnerId: string
  /** Folders of this process, with their paths on the engine's machine; if empty, this process and the engine see the same paths. */
  readonly shared: Readonly<Record<string, string>>
  /** The path of the executable `node`, on this machine or in the image. */
  readonly node: string
  /** The user of this process, who owns the files of workspaces without a separate owner. */
  readonly ownUser: SandboxUser
}

/** The label by which a runner's containers are found again. */
export const runnerLabel = 'flightdeck.runner'

/** The mount of the file or folder `path` at `target`. Throws `RangeError` when the engine cannot see `path`. */
export function engineMount(
  { shared }: Pick<ContainerOptions, 'shared'>,
  path: string,
  target: string,
  access: 'read' | 'write' = 'read',
): ContainerMount {
  const source = engineSees(shared, path)
  if (source === undefined)
    throw new RangeError(`${path} is in no folder that CONTAINER_PATHS shares with the container engine`)
  return { source, target, readOnly: access === 'read' }
}
