/** The container engine for tests, and the images that are available on it. */
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { getContainerRuntimeClient, ImageName } from 'testcontainers'
import ours from '../../scripts/containers.json'

const ourSocket = `${ours.folder}/docker.sock`
const ourHost = `unix://${ourSocket}`
const engineAnswersWithinMs = 5_000
const pullsWithinMs = 240_000

/** For each engine: the variable that names another image, and the default image. */
const images = {
  eventStoreDb: { variable: 'EVENTSTORE_IMAGE', usual: 'eventstore/eventstore:24.10', local: null },
  mongoDb: { variable: 'MONGODB_IMAGE', usual: 'mongo:8.0', local: ours.images.ferretdb },
  nats: { variable: 'NATS_IMAGE', usual: 'nats:2.11-alpine', local: ours.images.nats },
} as const

/** The reason why there is no container engine; `undefined` when there is one. With REQUIRE_CONTAINERS=1 it throws instead. */
export async function noContainers(): Promise<string | undefined> {
  takeOurs()
  const silence = new AbortController()
  try {
    const reason = await Promise.race([
      getContainerRuntimeClient().then(
        () => undefined,
        () => 'no container engine',
      ),
      pause(engineAnswersWithinMs, 'a container engine that does not answer', { signal: silence.signal }),
    ])
    if (reason !== undefined && process.env['REQUIRE_CONTAINERS'] === '1')
      throw new Error(`REQUIRE_CONTAINERS=1 and there is ${reason}.`)
    return reason
  } finally {
    silence.abort()
  }
}

/** An image, or the reason why it is missing. */
export type Image = { readonly name: string; readonly isLocal: boolean } | { readonly missing: string }

/** The image that the variable names, or the engine's default. An image that is not on the container engine is pulled. */
export async function imageOf(engine: keyof typeof images): Promise<Image> {
  const { variable, usual, local } = images[engine]
  const named = process.env[variable]
  return named !== undefined && named === local ? { name: local, isLocal: true } : had(named || usual)
}

/** The image of `imageOf`, or else the one that `scripts/containers.js` has built instead. */
export async function imageOrOurs(engine: keyof typeof images): Promise<Image> {
  const found = await imageOf(engine)
  const { local } = images[engine]
  if ('name' in found || local === null) return found
  return (await isOnEngine(local)) ? { name: local, isLocal: true } : found
}

/** Whether the container engine has the image already. */
export async function isOnEngine(name: string): Promise<boolean> {
  const { image } = await getContainerRuntimeClient()
  return image.inspect(ImageName.fromString(name)).then(
    () => true,
    () => false,
  )
}

async function had(name: string): Promise<Image> {
  if (await isOnEngine(name)) return { name, isLocal: false }
  const { image } = await getContainerRuntimeClient()
  const silence = new AbortController()
  try {
    return await Promise.race([
      image.pull(ImageName.fromString(name)).then(
        () => ({ name, isLocal: false }),
        () => ({ missing: `${name} cannot be pulled` }),
      ),
      // A registry that cannot be reached may never answer.
      pause(pullsWithinMs, { missing: `${name} is not pulled in time` }, { signal: silence.signal }),
    ])
  } finally {
    silence.abort()
  }
}

/** Uses the engine that `scripts/containers.js` started, if the environment names none and the system has none. */
function takeOurs(): void {
  const { env } = process
  if (env['DOCKER_HOST'] === undefined && !existsSync('/var/run/docker.sock') && existsSync(ourSocket))
    env['DOCKER_HOST'] = ourHost
  if (env['DOCKER_HOST'] !== ourHost) return
  // The reaper is an image too, which that engine cannot pull; each suite stops what it has started.
  env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true'
  // The engine publishes ports on loopback, even if the machine looks like a container itself.
  env['TESTCONTAINERS_HOST_OVERRIDE'] ??= '127.0.0.1'
}
