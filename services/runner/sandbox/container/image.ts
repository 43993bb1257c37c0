/** The image for container sandboxes, which is built if the engine does not have it. */
import { createHash } from 'node:crypto'
import { packTar } from '../../workspace/saved/tar.ts'
import type { ContainerEngine, ContainerImage } from './engine.ts'

/**
 * The Dockerfile of our own image, with the programs that agents and commands find in a sandbox. The agents themselves, node and the workspace come
 * from the server's machine. Building the image needs no BuildKit, so every engine can build it.
 */
export const sandboxDockerfile = `FROM node:24-bookworm-slim
RUN apt-get update \\
  && apt-get install -y --no-install-recommends ca-certificates curl git patch perl procps python3 ripgrep \\
  && rm -rf /var/lib/apt/lists/*
`

export interface ImageRequest {
  /** The name of the operator's image; `null`: our own, which is built if the engine does not have it. */
  readonly named: string | null
  /** The content of the Dockerfile. */
  readonly dockerfile: string
  /** Arguments for the build alone, such as proxies. */
  readonly buildArguments: Readonly<Record<string, string>>
  /** Called with a line for each step of a build. */
  readonly progress: (line: string) => void
}

/** The name of our image. It is made from the content of the Dockerfile, so an upgrade that changes the file builds a new image. */
export function imageName(dockerfile: string): string {
  return `flightdeck/sandbox:${createHash('sha256').update(dockerfile).digest('hex').slice(0, 12)}`
}

/** Finds the image or builds ours. A string says why there is none. Throws `EngineFault`. */
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
