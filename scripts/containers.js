/**
 * `node scripts/containers.js`: a container engine for tests, and images for it, on a Debian machine that cannot reach a registry of images.
 * Commands: `start` (the default, which also does `images`), `images`, `stop`. For root only.
 */
import { containerHost, startEngine, stopEngine } from './containersEngine.js'
import { buildImages } from './containersImages.js'
import { canInstall } from './system.js'

/** @type {Readonly<Record<string, () => Promise<void>>>} */
const orders = {
  start: startEngine,
  images: buildImages,
  stop: stopEngine,
  all: async () => {
    await startEngine()
    await buildImages()
  },
}

const order = orders[process.argv[2] ?? 'all']
try {
  if (!order) throw new Error('There are start, images and stop; with nothing said, start and images.')
  if (!canInstall())
    throw new Error('This is for root on Debian. Elsewhere start an engine yourself, and set DOCKER_HOST.')
  await order()
  if (order !== stopEngine) console.log(`DOCKER_HOST=${containerHost}`)
} catch (fault) {
  console.error(fault instanceof Error ? fault.message : fault)
  process.exitCode = 1
}
