/**
 * Builds images from what the machine has: Debian by debootstrap with npm's Node 24, in place of the image that the Dockerfile names; the system's
 * nats-server; FerretDB as the tests build it; and the product, from the Dockerfile itself.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { docker, known } from './containersEngine.js'
import { installEnvironment } from './environment.js'
import { ferretDbProgram } from './ferretdb.js'
import { run } from './run.js'
import { findProgram, installForSystem } from './system.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const minute = 60_000
const { images } = known

/** The certificates of authorities that this machine trusts: npm inside a build must trust the same ones as npm outside. */
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** Builds the images that are missing. The product is always built again, from the current sources. */
export async function buildImages() {
  await step(images.node, baseImage)
  await step(images.nats, natsImage)
  await step(images.ferretdb, ferretDbImage).catch(missing(images.ferretdb))
  for (const target of /** @type {const} */ (['service', 'runner']))
    await timed(images[target], () => productImage(target))
}

/**
 * Handles a failed build of FerretDB, which needs a Go toolchain: without this image, the tests that use it are left out.
 * @param {string} image
 */
const missing = (image) => (/** @type {unknown} */ fault) => {
  console.log(`${image}: not built: ${fault instanceof Error ? fault.message : String(fault)}`)
}

/**
 * @param {string} image
 * @param {() => Promise<void>} make
 */
async function step(image, make) {
  const isThere = await docker(['image', 'inspect', image], minute).then(
    () => true,
    () => false,
  )
  if (isThere) console.log(`${image}: is there`)
  else await timed(image, make)
}

/**
 * @param {string} image
 * @param {() => Promise<void>} make
 */
async function timed(image, make) {
  const begun = performance.now()
  await make()
  const megabytes = Number(await docker(['image', 'inspect', '--format', '{{.Size}}', image], minute)) / 1e6
  const seconds = (performance.now() - begun) / 1_000
  console.log(`${image}: built in ${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB`)
}

async function baseImage() {
  const tree = mkdtempSync(join(tmpdir(), 'flightdeck-debian-'))
  try {
    if (!findProgram('debootstrap', process.env))
      await installForSystem(['debootstrap'], { cwd: root, env: process.env })
    await done('debootstrap', ['--variant=minbase', '--include=wget', 'bookworm', tree], 10 * minute)
    // The Node of Debian's package is older, so this is npm's, as in the tests.
    const node = await done(
      'npx',
      ['--yes', '-p', 'node@24', '--', 'node', '-p', 'process.execPath'],
      5 * minute,
    )
    copyFileSync(node.trim().split('\n').at(-1) ?? '', join(tree, 'usr/local/bin/node'))
    await done('npm', ['install', '--global', '--prefix', join(tree, 'usr/local'), 'npm@11'], 5 * minute)
    await done('chroot', [tree, 'useradd', '--uid', '1000', '--create-home', 'node'], minute)
    if (existsSync(certificates)) {
      mkdirSync(dirname(join(tree, certificates)), { recursive: true })
      copyFileSync(certificates, join(tree, certificates))
    }
    for (const path of ['var/cache/apt/archives', 'var/lib/apt/lists'])
      rmSync(join(tree, path), { recursive: true, force: true })
    const trust = existsSync(certificates) ? ['--change', `ENV NODE_EXTRA_CA_CERTS=${certificates}`] : []
    const archive = join(tmpdir(), `flightdeck-debian-${process.pid}.tar`)
    try {
      await done('tar', ['-C', tree, '-cf', archive, '.'], 5 * minute)
      await docker(['import', ...trust, archive, images.node], 5 * minute)
    } finally {
      rmSync(archive, { force: true })
    }
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

async function natsImage() {
  const program = findProgram('nats-server', process.env)
  if (!program) throw new Error('There is no nats-server: apt-get install nats-server')
  await imageOf(images.nats, program, 'nats-server', [
    'EXPOSE 4222 8222',
    'ENTRYPOINT ["/usr/local/bin/nats-server"]',
  ])
}

async function ferretDbImage() {
  await imageOf(images.ferretdb, await ferretDbProgram(), 'ferretdb', [
    'RUN install -d -o node -g node /data',
    'USER node',
    'VOLUME /data',
    'EXPOSE 27017',
    `ENTRYPOINT ["/usr/local/bin/ferretdb", "--handler=sqlite", "--sqlite-url=file:/data/?_pragma=synchronous(off)", "--state-dir=/data", "--listen-addr=:27017", "--debug-addr=-", "--telemetry=disable"]`,
  ])
}

/**
 * An image of our Debian with a program of this machine. Debian brings the C library, and the shell and wget that health checks use.
 * @param {string} image
 * @param {string} program
 * @param {string} name
 * @param {readonly string[]} lines
 */
async function imageOf(image, program, name, lines) {
  const context = mkdtempSync(join(tmpdir(), 'flightdeck-image-'))
  try {
    copyFileSync(program, join(context, name))
    const head = [`FROM ${images.node}`, `COPY ${name} /usr/local/bin/${name}`]
    writeFileSync(join(context, 'Dockerfile'), [...head, ...lines, ''].join('\n'))
    await docker(['build', '--tag', image, context], 5 * minute)
  } finally {
    rmSync(context, { recursive: true, force: true })
  }
}

/** @param {'service' | 'runner'} target */
async function productImage(target) {
  // In the network of the machine, since our engine gives containers no way out.
  const how = ['--network', 'host', '--build-arg', `NODE_IMAGE=${images.node}`, '--label', 'flightdeck-local']
  await docker(['build', ...how, '--target', target, '--tag', images[target], root], 30 * minute)
  // Removes the image that had this name before.
  await docker(['image', 'prune', '--force', '--filter', 'label=flightdeck-local'], 5 * minute)
}

/**
 * Runs a command and returns what it printed; throws when it fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {number} limit
 */
async function done(command, args, limit) {
  const env = installEnvironment(process.env)
  const ended = await run(command, args, { cwd: tmpdir(), env, limit, output: 'keep' })
  if (!ended.ok) throw new Error(`${ended.output.trim().slice(-2_000)}\n${command} ${ended.why}.`)
  return ended.output
}
