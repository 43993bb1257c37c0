/** The image that container sandboxes are made of. The engine builds it where it does not have it. */
import { createHash } from 'node:crypto'
import { packTar } from '../../workspace/saved/tar.ts'
import type { ContainerEngine, ContainerImage } from './engine.ts'

/**
 * What agents and commands find in a sandbox; agents themselves, node and the workspace come from the server's machine. It uses nothing of
 * BuildKit's, so that every engine builds it.
 */
export const sandboxDockerfile = `FROM node:24-bookworm-slim
RUN apt-get update \\
  && apt-get install -y --no-install-recommends ca-certificates curl git patch perl procps python3 ripgrep \\
  && rm -rf /var/lib/apt/lists/*
`

export interface ImageRequest {
  /** An image of the operator's; `null`: ours, which is built when the engine does not have it. */
  readonly named: string | null
  /** Content of the Dockerfile. */
  readonly dockerfile: string
  /** For the build alone: proxies, say. */
  readonly buildArguments: Readonly<Record<string, string>>
  /** Told of a build's steps, a line each. */
  readonly progress: (line: string) => void
}

/** By its content: an upgrade that changes the file builds a new one. */
export function imageName(dockerfile: string): string {
  return `flightdeck/sandbox:${createHash('sha256').update(dockerfile).digest('hex').slice(0, 12)}`
}

/** Finds the image or builds ours; a string says why there is none. Throws `EngineFault`. */
export async function findOrBuildImage(
  engine: ContainerEngine,
  { named, dockerfile, buildArguments, progress }: ImageRequest,
): Promise<ContainerImage | string> {
  const name = named ?? imageName(dockerfile)
  const found = await engine.image(name)
  if (found) return found
  if (named !== null)
    return `there is no image ${named}: pull it, or leave out CONTAINER_IMAGE to have one built`
  progress(`Building the image for sandboxes, ${name} (first start only)…`)
  const context = await packTar([{ path: 'Dockerfile', content: Buffer.from(dockerfile) }])
  await engine.build(context, { name, buildArguments, progress })
  return (await engine.image(name)) ?? `the image ${name} was built and is not there`
}
