/** The product's two images: those at SERVICE_IMAGE and RUNNER_IMAGE, else built from the present sources by the Dockerfile itself. */
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

/** The system's own client: another one on PATH may lack the builder. */
const client = existsSync('/usr/bin/docker') ? '/usr/bin/docker' : 'docker'

/** The engine's own commands, for what testcontainers does not offer. Gives what was printed. */
export async function docker(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, DOCKER_BUILDKIT: '1', BUILDKIT_PROGRESS: 'plain' }
  const { stdout } = await run(client, args, { env, timeout: buildMs, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

/** Takes seconds where little has changed, and minutes the first time. On Node's own image, or on the one that was made here. */
export async function productImages(): Promise<ProductImages> {
  const { SERVICE_IMAGE: service, RUNNER_IMAGE: runner } = process.env
  if (service && runner) return { service, runner }
  const node =
    process.env['NODE_IMAGE'] ?? ((await isOnEngine(ours.images.node)) ? ours.images.node : undefined)
  const base = node === undefined ? [] : ['--build-arg', `NODE_IMAGE=${node}`]
  const how = ['--network', 'host', ...base, '--label', 'flightdeck-local']
  for (const target of ['service', 'runner'] as const)
    await docker('build', ...how, '--target', target, '--tag', ours.images[target], root)
  // Those that had the names before.
  await docker('image', 'prune', '--force', '--filter', 'label=flightdeck-local')
  return ours.images
}
