/** The four services and the local code host, each in a container of the product's own image, with the restrictions of docker-compose.yml. */
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers'
import { freePortsFor } from '../freePorts.ts'
import { discard, ownFolder, type Logs } from '../product/server.ts'
import { personWith } from '../product/person.ts'
import { signingIn, type AnyProduct } from '../product.ts'
import { servicesApart, type ServiceApart } from '../product/servicesApart.ts'
import { note } from '../report/notes.ts'
import { imageOrOurs } from '../servers/containers.ts'
import { anyEventStoreDb } from '../servers/eventStoreDb.ts'
import { ferretDbVersion } from '../servers/ferretdb.ts'
import { openGate } from '../servers/tcpGate.ts'
import { oneAtATime } from '../servers/oneWriteAtATime.ts'
import type { ProductImages } from './images.ts'

export interface ContainerStack extends Omit<AnyProduct, 'processes'> {
  readonly containers: ReadonlyMap<ServiceApart, StartedTestContainer>
  /** The addresses of the services. */
  readonly at: ReadonlyMap<ServiceApart, string>
  readonly masterKey: string
}

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const startMs = 120_000

/** Starts engines and services, and waits until each service is ready. Everything that was started ends with `stop`, or when a later one fails. */
export async function startStack(images: ProductImages): Promise<ContainerStack> {
  const ends: (() => Promise<unknown>)[] = []
  const stop = async () => {
    const faults: unknown[] = []
    for (const end of ends.splice(0).reverse()) await end().catch((fault: unknown) => faults.push(fault))
    if (faults.length > 0) throw faults[0]
  }
  try {
    return { ...(await start(images, ends)), stop }
  } catch (fault) {
    await stop().catch(() => undefined)
    throw fault
  }
}

async function start(
  images: ProductImages,
  ends: (() => Promise<unknown>)[],
): Promise<Omit<ContainerStack, 'stop'>> {
  const folder = await ownFolder()
  ends.push(() => discard(folder))
  const masterKey = randomBytes(32).toString('base64')
  const secrets = join(folder, 'secrets')
  await writeSecrets(secrets, { master_key: masterKey, ...(await startEngines(ends)) })
  const [codeHostPort = 0, ...ports] = await freePortsFor(servicesApart.length + 1)
  const at = new Map(servicesApart.map((name, index) => [name, `http://127.0.0.1:${ports[index]}`] as const))
  const variables = {
    // The network of the machine, because people and services alike reach the local code host on loopback.
    HOST: '127.0.0.1',
    CODEHOST_PORT: String(codeHostPort),
    CODEHOST_HOST: '0.0.0.0',
    COMMAND_URL: at.get('command') ?? '',
    QUERY_URL: at.get('query') ?? '',
    MASTER_KEY_FILE: '/run/secrets/master_key',
    EVENTSTORE_URL_FILE: '/run/secrets/eventstore_url',
    MONGODB_URL_FILE: '/run/secrets/mongodb_url',
    NATS_URL_FILE: '/run/secrets/nats_url',
  }
  const profile = await readFile(join(root, 'deploy/runner.seccomp.json'), 'utf8')
  const containers = new Map<ServiceApart, StartedTestContainer>()
  const logs: Logs = { stdout: '', stderr: '' }
  for (const service of servicesApart) {
    const isRunner = service === 'runner'
    // The code host needs git, which the runner's image has.
    const image = isRunner || service === 'codehost' ? images.runner : images.service
    const container = await new Confined(image, isRunner ? profile : undefined)
      .withNetworkMode('host')
      .withEnvironment({ ...variables, SERVICES: service, PORT: new URL(at.get(service) ?? '').port })
      .withBindMounts([{ source: secrets, target: '/run/secrets', mode: 'ro' }])
      .withWaitStrategy(Wait.forLogMessage(/^Flightdeck is ready: /))
      .withStartupTimeout(startMs)
      // The engine merges both outputs into one.
      .withLogConsumer((printed) => printed.on('data', (line: unknown) => (logs.stdout += String(line))))
      .start()
      .catch((fault: unknown) => {
        throw new Error(`The ${service} service does not start.\n${logs.stdout}`, { cause: fault })
      })
    ends.push(() => container.stop({ timeout: 15_000, removeVolumes: true }))
    containers.set(service, container)
  }
  const base = at.get('gateway') ?? ''
  return {
    base,
    codeHostUrl: `http://localhost:${codeHostPort}`,
    containers,
    at,
    masterKey,
    logs,
    signIn: signingIn(base),
    personWith: (token) => personWith(base, token),
  }
}

/**
 * A container with the restrictions of docker-compose.yml: only /tmp and volumes can be written, root has no capabilities, and none can be gained.
 */
class Confined extends GenericContainer {
  readonly #profile: string | undefined

  constructor(image: string, profile: string | undefined) {
    super(image)
    this.#profile = profile
    this.withDroppedCapabilities('ALL').withTmpFs({ '/tmp': 'rw,nosuid,nodev,noexec' })
    this.withSecurityOpt(
      'no-new-privileges',
      ...(profile === undefined ? [] : [`seccomp=${profile}`, 'apparmor=unconfined']),
    )
  }

  protected override async beforeContainerCreated(): Promise<void> {
    this.hostConfig.ReadonlyRootfs = true
    this.hostConfig.Init = true
    if (this.#profile === undefined) return
    // This is what `systempaths=unconfined` means to the engine.
    this.hostConfig.MaskedPaths = []
    this.hostConfig.ReadonlyPaths = []
  }
}

async function writeSecrets(folder: string, secrets: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder)
  await chmod(folder, 0o755)
  for (const [name, secret] of Object.entries(secrets)) await writeFile(join(folder, name), `${secret}\n`)
}

/** Starts each engine in a container if it has an image here; stand-ins for the others run in this process. */
async function startEngines(ends: (() => Promise<unknown>)[]): Promise<Readonly<Record<string, string>>> {
  const eventStore = await anyEventStoreDb()
  ends.push(() => eventStore.close())
  note('services in containers: EventStoreDB', eventStore.against)
  return {
    eventstore_url: eventStore.url,
    mongodb_url: await startMongo(ends),
    nats_url: await startNats(ends),
  }
}

async function startMongo(ends: (() => Promise<unknown>)[]): Promise<string> {
  const image = await imageOrOurs('mongoDb')
  if ('missing' in image) throw new Error(`There is no image for MongoDB: ${image.missing}.`)
  const container = await new GenericContainer(image.name)
    .withExposedPorts(27_017)
    .withWaitStrategy(Wait.forLogMessage(/waiting for connections|listening on/i))
    .withStartupTimeout(startMs)
    .start()
  ends.push(() => container.stop({ removeVolumes: true }))
  note(
    'services in containers: MongoDB',
    image.isLocal ? `FerretDB ${ferretDbVersion} on SQLite in a container, not MongoDB` : image.name,
  )
  const to = { host: container.getHost(), port: container.getMappedPort(27_017) }
  if (!image.isLocal) return `mongodb://${to.host}:${to.port}/flightdeck?directConnection=true`
  // FerretDB changes a document in two steps, between which another process could change it.
  const gate = await openGate(to, oneAtATime())
  ends.push(() => gate.shut())
  return `mongodb://127.0.0.1:${gate.port}/flightdeck?directConnection=true`
}

async function startNats(ends: (() => Promise<unknown>)[]): Promise<string> {
  const image = await imageOrOurs('nats')
  if ('missing' in image) throw new Error(`There is no image for NATS: ${image.missing}.`)
  const container = await new GenericContainer(image.name)
    .withCommand(['-js', '-sd', '/tmp/jetstream'])
    .withExposedPorts(4222)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .withStartupTimeout(startMs)
    .start()
  ends.push(() => container.stop({ removeVolumes: true }))
  note('services in containers: NATS', `the real nats-server with JetStream in a container, ${image.name}`)
  return `nats://${container.getHost()}:${container.getMappedPort(4222)}`
}
