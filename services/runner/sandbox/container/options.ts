/** What sandboxes of a container engine are made with. */
import type { Scratch } from '../../scratch.ts'
import type { SandboxUser } from '../../workspace/workspace.ts'
import type { ContainerEngine, ContainerImage } from './engine.ts'
import { engineSees, type ContainerMount } from './createRequest.ts'

export interface ContainerOptions {
  readonly engine: ContainerEngine
  readonly image: ContainerImage
  readonly scratch: Scratch
  /** PATH, for the program that makes named pipes. */
  readonly path: string
  /** By which this runner's containers are found. */
  readonly runnerId: string
  /** Folders of this process that the engine has elsewhere; without any, both see the same files. */
  readonly shared: Readonly<Record<string, string>>
  /** Path of a Node program: on this machine, or in the image. */
  readonly node: string
  /** The user of this process, who owns the files of workspaces without an owner of their own. */
  readonly ownUser: SandboxUser
}

/** The label by which a runner's containers are found again. */
export const runnerLabel = 'flightdeck.runner'

/** The mount of a file or folder that the engine can see; throws `RangeError` when it cannot see it. */
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
