/** The product's two images: those that SERVICE_IMAGE and RUNNER_IMAGE name, or else images built from the current sources with the Dockerfile. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ours from '../../scripts/containers.json'
import { isOnEngine } from '../servers/containers.ts'

export interface ProductImages {
  readonly service: string
  readonly runner: string
}

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const buildMs = 1_800_000
const run = promisify(execFile)

/** The system's own client, because another one on PATH may lack the builder. */
const client = existsSync('/usr/bin/docker') ? '/usr/bin/docker' : 'docker'

/** Runs the engine's own client, for what testcontainers does not offer. Returns what was printed. */
export async function docker(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, DOCKER_BUILDKIT: '1', BUILDKIT_PROGRESS: 'plain' }
  const { stdout } = await run(client, args, { env, timeout: buildMs, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

/** Builds the images: seconds if little has changed, and minutes the first time. Based on Node's own image, or on the one that was made here. */
export async function productImages(): Promise<ProductImages> {
  const { SERVICE_IMAGE: service, RUNNER_IMAGE: runner } = process.env
  if (service && runner) return { service, runner }
  const node =
    process.env['NODE_IMAGE'] ?? ((await isOnEngine(ours.images.node)) ? ours.images.node : undefined)
  const base = node === undefined ? [] : ['--build-arg', `NODE_IMAGE=${node}`]
  const how = ['--network', 'host', ...base, '--label', 'flightdeck-local']
  for (const target of ['service', 'runner'] as const)
    await docker('build', ...how, '--target', target, '--tag', ours.images[target], root)
  // Removes the images that had these names before.
  await docker('image', 'prune', '--force', '--filter', 'label=flightdeck-local')
  return ours.images
}
