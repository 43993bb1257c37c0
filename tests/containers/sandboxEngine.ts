/** The engine that makes sandboxes in tests, and the image for them; or the reason why there is none. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ours from '../../scripts/containers.json'
import type { TestEngine } from '../runner/testSandbox.ts'
import { isOnEngine, noContainers } from '../servers/containers.ts'
import { docker } from './images.ts'

export type SandboxEngine = TestEngine | { readonly missing: string }

const image = 'flightdeck-local/sandbox'
/** The packages that agents need, and those with which the suites inspect a sandbox. */
const packages = 'ca-certificates curl git procps ripgrep'

/** Builds the image from Debian with Node, unless it exists. With REQUIRE_CONTAINERS=1 it throws when there is no engine. */
export async function sandboxEngine(): Promise<SandboxEngine> {
  const missing = await noContainers()
  if (missing !== undefined) return { missing }
  const socketPath = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '')
  if (!existsSync(socketPath)) return { missing: `no engine on a socket of this machine` }
  if (!(await isOnEngine(image))) await buildImage()
  return { socketPath, image }
}

/** The variables that make a product use this engine for its sandboxes. */
export function sandboxVariables({ socketPath, image }: TestEngine): Readonly<Record<string, string>> {
  return { SANDBOX: 'container', CONTAINER_HOST: `unix://${socketPath}`, CONTAINER_IMAGE: image }
}

async function buildImage(): Promise<void> {
  const node = process.env['NODE_IMAGE'] ?? ours.images.node
  const context = await mkdtemp(join(tmpdir(), 'flightdeck-image-'))
  try {
    const lines = [
      `FROM ${node}`,
      `RUN apt-get update && apt-get install -y --no-install-recommends ${packages} && rm -rf /var/lib/apt/lists/*`,
    ]
    await writeFile(join(context, 'Dockerfile'), `${lines.join('\n')}\n`)
    await docker('build', '--network', 'host', '--tag', image, context)
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}
