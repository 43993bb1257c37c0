/** Starts docker-compose.yml as it is. It only overrides services that have no image here, or cannot reach GitHub from here. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { purposeKey } from '#platform/vault/sealing.ts'
import { freePortsFor } from '../freePorts.ts'
import { cleanEnvironment, discard, ownFolder } from '../product/server.ts'
import { note } from '../report/notes.ts'
import type { ComposeCommand } from '../servers/compose.ts'
import { imageOf, imageOrOurs } from '../servers/containers.ts'
import type { ProductImages } from './images.ts'

export interface ComposeStack {
  /** The addresses of the gateways, in order. */
  readonly gateways: readonly string[]
  readonly codeHostUrl: string
  /** Runs a command of Compose; returns what it printed. */
  compose(...args: readonly string[]): Promise<string>
  /** The ids of the running containers of a service. */
  containersOf(service: string): Promise<readonly string[]>
  /** Changes how many containers each service has, and waits until all pass their health checks. */
  scale(count: Readonly<Record<string, number>>): Promise<void>
  /** Removes everything, including volumes. */
  down(): Promise<void>
}

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const run = promisify(execFile)
const commandMs = 300_000

/** Starts this many containers of each service, and waits until all pass their health checks. */
export async function composeUp(
  command: ComposeCommand,
  images: ProductImages,
  count: Readonly<Record<string, number>>,
): Promise<ComposeStack> {
  const folder = await ownFolder()
  const secrets = join(folder, 'secrets')
  const net = `172.29.${randomBytes(1)[0] ?? 0}`
  const codeHostUrl = `http://${net}.10:8081`
  const override = join(folder, 'override.json')
  const nats = await imageOrOurs('nats')
  if ('missing' in nats) throw new Error(`There is no image for NATS: ${nats.missing}.`)
  note('docker compose up: NATS', `the real nats-server with JetStream, ${nats.name}`)
  const engines = { ...(await eventStoreHere(images)), ...(await mongoHere(secrets)) }
  await writeFile(override, JSON.stringify(overriding(images, engines, `${net}.10`)))

  const project = `flightdeck-test-${randomBytes(4).toString('hex')}`
  const [firstPort = 0] = await freePortsFor(1)
  const env = {
    ...cleanEnvironment(folder),
    ...(process.env['DOCKER_HOST'] ? { DOCKER_HOST: process.env['DOCKER_HOST'] } : {}),
    SECRETS: secrets,
    SERVICE_IMAGE: images.service,
    RUNNER_IMAGE: images.runner,
    NATS_IMAGE: nats.name,
    GATEWAY_PORTS: `${Math.min(firstPort, 65_000)}-${Math.min(firstPort, 65_000) + 30}`,
    ALLOWED_USERS: 'ada,grace',
    GITHUB_CLIENT_ID: 'flightdeck-local',
    GITHUB_SERVER_URL: codeHostUrl,
    GITHUB_API_URL: `${codeHostUrl}/api/v3`,
  }
  const files = ['--file', join(root, 'docker-compose.yml'), '--file', override]
  async function compose(...args: readonly string[]): Promise<string> {
    const [program, ...before] = command
    const all = [...before, '--project-name', project, ...files, ...args]
    const { stdout } = await run(program, all, { cwd: folder, env, timeout: commandMs })
    return stdout
  }
  const down = async () => {
    await compose('down', '--volumes', '--timeout', '14')
    await discard(folder)
  }
  const scale: ComposeStack['scale'] = async (wanted) => {
    const scales = Object.entries(wanted).flatMap(([name, times]) => ['--scale', `${name}=${times}`])
    // The images exist already: nothing is built, and our own images are not pulled.
    const quiet = ['--detach', '--wait', '--no-build', '--no-recreate', '--pull', 'never']
    await compose('up', ...quiet, ...scales)
  }
  await makeSecrets(secrets)
  try {
    await scale(count)
    const gateways: string[] = []
    for (let index = 1; index <= (count['gateway'] ?? 1); index += 1) {
      const at = await compose('port', '--index', String(index), 'gateway', '8080')
      gateways.push(`http://${at.trim()}`)
    }
    const containersOf = async (service: string) =>
      (await compose('ps', '--quiet', service)).trim().split('\n')
    return { gateways, codeHostUrl, compose, containersOf, scale, down }
  } catch (fault) {
    const told = await compose('logs', '--no-color', '--tail', '20').catch(() => '')
    await down().catch(() => undefined)
    throw new Error(`It does not come up.\n${told}`, { cause: fault })
  }
}

/** Makes the secrets with the script that operators use. The code host derives its secrets from the master key, as it does everywhere. */
async function makeSecrets(folder: string): Promise<void> {
  await run('sh', [join(root, 'scripts/containersSecrets.sh'), folder])
  const masterKey = Buffer.from(await readFile(join(folder, 'master_key'), 'utf8'), 'base64')
  const secret = Buffer.from(purposeKey(masterKey, 'local-code-host')).toString('base64url')
  await writeFile(join(folder, 'github_client_secret'), `${secret}\n`)
}

type Services = Readonly<Record<string, unknown>>

/** A health check that only tests whether a port is open: the stand-ins have neither MongoDB's shell nor curl. */
const listening = (port: number) => [
  'CMD',
  'node',
  '-e',
  `require('node:net').connect(${port}, '127.0.0.1').once('connect', () => process.exit(0)).once('error', () => process.exit(1))`,
]

const standIn = (image: string, engine: string, port: number) => ({
  image,
  user: 'node',
  entrypoint: [],
  command: ['node', '/app/tests/containers/standIn.ts', engine, String(port)],
  volumes: [
    { type: 'bind', source: join(root, 'tests'), target: '/app/tests', read_only: true },
    { type: 'bind', source: join(root, 'node_modules'), target: '/app/node_modules', read_only: true },
  ],
  healthcheck: { test: listening(port) },
})

async function eventStoreHere({ service }: ProductImages): Promise<Services> {
  const image = await imageOf('eventStoreDb')
  if ('name' in image) {
    note('docker compose up: EventStoreDB', image.name)
    return { eventstore: { image: image.name } }
  }
  note('docker compose up: EventStoreDB', `a stand-in at the wire, behind the real client (${image.missing})`)
  return { eventstore: standIn(service, 'eventstore', 2113) }
}

async function mongoHere(secrets: string): Promise<Services> {
  const image = await imageOrOurs('mongoDb')
  if ('missing' in image) throw new Error(`There is no image for MongoDB: ${image.missing}.`)
  note('docker compose up: MongoDB', image.isLocal ? 'FerretDB on SQLite, not MongoDB' : image.name)
  if (!image.isLocal) return { mongo: { image: image.name } }
  // The stand-in has no users, so its address is written before the script would make one with a password.
  await mkdir(secrets)
  await chmod(secrets, 0o700)
  await writeFile(join(secrets, 'mongodb_url'), 'mongodb://mongo:27017/flightdeck?directConnection=true\n')
  return { mongo: standIn(image.name, 'mongo', 27_017) }
}

/** Overrides the engines, and puts the local code host in the place of GitHub, at an address that works for services and people alike. */
function overriding(images: ProductImages, engines: Services, codeHostAddress: string): unknown {
  const names = ['master_key', 'eventstore_url', 'mongodb_url', 'nats_url']
  const given = names.map((name) => [`${name.toUpperCase()}_FILE`, `/run/secrets/${name}`] as const)
  const codehost = {
    image: images.runner,
    init: true,
    read_only: true,
    tmpfs: ['/tmp'],
    cap_drop: ['ALL'],
    environment: {
      ...Object.fromEntries(given),
      SERVICES: 'codehost',
      HOST: codeHostAddress,
      CODEHOST_HOST: codeHostAddress,
    },
    secrets: names,
    volumes: ['/data'],
    networks: { engines: {}, outside: { ipv4_address: codeHostAddress } },
    healthcheck: {
      test: [
        'CMD',
        'node',
        '-e',
        `fetch('http://${codeHostAddress}:8080/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`,
      ],
      interval: '2s',
      retries: 30,
    },
    depends_on: {
      eventstore: { condition: 'service_healthy' },
      mongo: { condition: 'service_healthy' },
      nats: { condition: 'service_healthy' },
    },
  }
  const subnet = `${codeHostAddress.split('.').slice(0, 3).join('.')}.0/24`
  return {
    services: { ...engines, codehost },
    networks: { outside: { ipam: { config: [{ subnet }] } } },
  }
}
