/** Measures processor time, memory and messages on services in processes of their own, on NATS itself and stand-ins for the other engines. */
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'nats'
import { executeTask, getTask } from '#domain/api/tasks.schema.ts'
import { ownMegabytes, processorMs } from './usage.ts'
import type { Costs } from './costs.ts'
import type { Live } from '../../product/live.ts'
import type { Person } from '../../product/person.ts'
import { startApart, type ApartProduct, type ServiceApart } from '../../product/servicesApart.ts'
import { agentsOf } from '../../server/agentProcesses.ts'
import { forMongo, startSharedEngines } from '../../servers/sharedEngines.ts'

const turns = 12
const printing = 6
const lines = 150
/** A person may have 200 connections. */
const viewers = 180
const restMs = 4_000
const rests = 6
/** The log is sealed every ten seconds at most: what a phase has appended is sealed within it. */
const sealedMs = 12_000
const turnWithinMs = 300_000
/** Prints a line of usual length every tenth of a second, so that each becomes an event of its own. */
const program = `for n in $(seq ${lines}); do echo "$n  the widget that was made round is now checked against its drawing"; sleep 0.1; done`

type ApartCosts = Pick<Costs, 'viewer' | 'agent' | 'atRest'> & {
  readonly turn: Pick<Costs['turn'], 'processor' | 'agentProcessor' | 'natsMessages'>
  readonly event: Pick<Costs['event'], 'processor' | 'natsMessages' | 'followingProcessor'>
}

const services = ['command', 'query', 'gateway', 'runner'] as const
type Service = (typeof services)[number]

/** What one phase of the measurement used. */
interface Used {
  readonly seconds: number
  readonly natsMessages: number
  /** Processor time by service and process, in milliseconds. */
  readonly processor: Readonly<Record<Service, readonly number[]>>
  readonly agentProcessor: number
}

export async function costsApart(atEnd: (undo: () => Promise<unknown>) => void): Promise<ApartCosts> {
  const mongo = await forMongo()
  if ('missing' in mongo) throw new Error(`Services cannot run apart here: ${mongo.missing}.`)
  const engines = await startSharedEngines(mongo.server)
  atEnd(() => engines.close())
  const product = await startApart({
    engines,
    count: { gateway: 2, query: 2 },
    env: { REQUESTS_PER_MINUTE: '0', TASKS_AT_ONCE: '100', WARM_AGENTS: '50' },
  })
  atEnd(() => product.stop())
  const heard = await natsMessages(engines.nats.url)
  atEnd(() => heard.close())
  const person = await signedIn(product)
  const projectId = await person.project('sample')
  const [first = ''] = await completedTasks(person, projectId, 1)
  const measured = measuring(product, heard.count)
  const used = (work: () => Promise<unknown>) =>
    measured(async () => {
      await work()
      await pause(sealedMs)
    })
  await pause(sealedMs)

  const memory = await memoryOf(product)
  const taskIds: string[] = []
  const working = await used(async () => taskIds.push(...(await completedTasks(person, projectId, turns))))
  const agent = await memoryOfAgents(product)
  // The least of several times counts, since what is left of the turns may go on in the others.
  const resting: Used[] = []
  for (let n = 0; n < rests; n += 1) resting.push(await measured(() => pause(restMs)))

  const printers = [first, ...taskIds].slice(0, printing)
  const unseen = await used(() => print(person, printers))
  const watched = await underEyes(product, person, printers, used)

  const events = printing * lines
  const atRestNats = Math.min(...resting.map(({ natsMessages, seconds }) => natsMessages / seconds))
  // What goes on at rest too, such as heartbeats, is no cost of a turn or of an event.
  const beyondRest = (phase: Used) => (service: Service, index: number) => {
    const atRest = resting.map(({ processor, seconds }) => (processor[service][index] ?? 0) / seconds)
    return Math.max(0, (phase.processor[service][index] ?? 0) - Math.min(...atRest) * phase.seconds)
  }
  const ofTurns = beyondRest(working)
  const ofEvents = beyondRest(unseen)
  const both = (of: typeof ofTurns) => (service: Service) => of(service, 0) + of(service, 1)
  const queries = [ofEvents('query', 0), ofEvents('query', 1)]
  return {
    turn: {
      processor: eachService((service) => both(ofTurns)(service) / turns),
      agentProcessor: working.agentProcessor / turns,
      natsMessages: (working.natsMessages - atRestNats * working.seconds) / turns,
    },
    event: {
      // One query process projects, the other one stands by. Each gateway reads every event.
      processor: {
        command: ofEvents('command', 0) / events,
        query: Math.max(...queries) / events,
        gateway: ofEvents('gateway', 0) / events,
        runner: ofEvents('runner', 0) / events,
      },
      natsMessages: (unseen.natsMessages - atRestNats * unseen.seconds) / events,
      followingProcessor: ofEvents('gateway', 1) / events,
    },
    viewer: {
      memory: watched.memory,
      messageProcessor:
        Math.max(0, beyondRest(watched.used)('gateway', 0) - ofEvents('gateway', 0)) / watched.messages,
    },
    agent: { memory: agent },
    atRest: { memory, natsMessages: atRestNats },
  }
}

function eachService<T>(of: (service: Service) => T): Record<Service, T> {
  return { command: of('command'), query: of('query'), gateway: of('gateway'), runner: of('runner') }
}

async function completedTasks(person: Person, projectId: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) {
    const { id } = await person.task(projectId, 'Add a line to the notes')
    await completed(person, id)
    ids.push(id)
  }
  return ids
}

/** Signs in once the read models can be read, which a new server must make first. */
async function signedIn(product: ApartProduct): Promise<Person> {
  for (const end = Date.now() + turnWithinMs; ; await pause(1_000)) {
    try {
      return await product.signIn('ada')
    } catch (fault) {
      if (Date.now() > end || !String(fault).includes('views_behind')) throw fault
    }
  }
}

/** Resolves when the task has completed. A server with too much to do may refuse the question, which is asked again. */
async function completed(person: Person, taskId: string): Promise<void> {
  for (const end = Date.now() + turnWithinMs; ; await pause(400)) {
    const { body } = await person.api('GET', `/tasks/${taskId}`)
    if (getTask.answer.safeParse(body).data?.task.status === 'completed') return
    if (Date.now() > end) throw new Error(`The task ${taskId} is not completed.`)
  }
}

/** Lets every task print at once, and resolves when all have ended. Asks rarely, since each question costs processor time too. */
async function print(person: Person, taskIds: readonly string[]): Promise<void> {
  for (const taskId of taskIds)
    await person.ask(executeTask, { params: { taskId }, body: { command: program } })
  await pause(lines * 100)
  for (const taskId of taskIds) await completed(person, taskId)
}

/** Counts what is published over NATS, the queue's own messages included. */
async function natsMessages(url: string) {
  const connection = await connect({ servers: url })
  const all = connection.subscribe('>')
  let messages = 0
  void (async () => {
    for await (const _ of all) messages += 1
  })()
  return { count: () => messages, close: () => connection.close() }
}

async function pidOf(product: ApartProduct, service: ServiceApart, index: number): Promise<number> {
  const [oldest] = await product.processesOf(service, index)
  if (oldest === undefined) throw new Error(`The ${service} is gone.`)
  return oldest.pid
}

const processesOf = (product: ApartProduct, service: Service) =>
  Promise.all(product.of[service].map((_, index) => pidOf(product, service, index)))

/** Returns a function that tells what the product used while something happened. */
function measuring(product: ApartProduct, natsCount: () => number) {
  const now = async () => {
    const processor = await Promise.all(
      services.map(async (service) =>
        Promise.all((await processesOf(product, service)).map((pid) => processorMs(pid))),
      ),
    )
    const ofRunner = await product.processesOf('runner', 0)
    const withAgents = await Promise.all(ofRunner.map(({ pid }) => processorMs(pid, { withEnded: true })))
    const total = withAgents.reduce((sum, ms) => sum + ms, 0)
    return { processor, total, nats: natsCount(), at: performance.now() }
  }
  return async (happens: () => Promise<unknown>): Promise<Used> => {
    const before = await now()
    await happens()
    const after = await now()
    const processor = eachService((service) => {
      const place = services.indexOf(service)
      return (after.processor[place] ?? []).map((ms, index) => ms - (before.processor[place]?.[index] ?? 0))
    })
    const ofServer = processor.runner[0] ?? 0
    return {
      seconds: (after.at - before.at) / 1_000,
      natsMessages: after.nats - before.nats,
      processor,
      agentProcessor: Math.max(0, after.total - before.total - ofServer),
    }
  }
}

async function memoryOf(product: ApartProduct): Promise<Record<Service, number>> {
  const found = await Promise.all(
    services.map(async (service) => [service, await ownMegabytes(await pidOf(product, service, 0))] as const),
  )
  const memory = new Map(found)
  return eachService((service) => memory.get(service) ?? 0)
}

/** The memory of all that the runner has started, for each agent. */
async function memoryOfAgents(product: ApartProduct): Promise<number> {
  const agents = await agentsOf(product)
  if (agents.length === 0) throw new Error('No agent waits.')
  return (await startedByRunner(product)) / agents.length
}

async function startedByRunner(product: ApartProduct): Promise<number> {
  const [, ...started] = await product.processesOf('runner', 0)
  const megabytes = await Promise.all(started.map(({ pid }) => ownMegabytes(pid)))
  return megabytes.reduce((sum, one) => sum + one, 0)
}

/** The same printing under the eyes of viewers, who all watch at one gateway. */
async function underEyes(
  product: ApartProduct,
  person: Person,
  taskIds: readonly string[],
  used: ReturnType<typeof measuring>,
) {
  const gateway = await pidOf(product, 'gateway', 0)
  const before = await ownMegabytes(gateway)
  const sockets: Live[] = []
  try {
    for (let n = 0; n < viewers; n += 1) {
      const live = await person.socket()
      sockets.push(live)
      await live.join(taskIds[n % taskIds.length] ?? '')
    }
    await pause(2_000)
    const memory = Math.max(0, (await ownMegabytes(gateway)) - before) / viewers
    const heard = () => sockets.reduce((sum, { heard }) => sum + heard.length, 0)
    const heardBefore = heard()
    const watched = await used(() => print(person, taskIds))
    return { memory, used: watched, messages: heard() - heardBefore }
  } finally {
    for (const live of sockets) live.close()
  }
}
