/**
 * A soak: services apart under a mixed load with runs and viewers, while every minute one part is killed or paused, and the curves of what it takes.
 * At the end, what every viewer shows and every write are compared with the log.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { createRepository } from '#domain/api/projects.schema.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import type { Person } from '../../product/person.ts'
import { startApart, type ApartProduct } from '../../product/servicesApart.ts'
import { asking, startStampingModel } from '../stampingModel.ts'
import { checkLog, type Checked } from './checkLog.ts'
import { drawn } from './drawing.ts'
import { startForked, type Forked } from './forked.ts'
import { openLedger, type Ledger } from './ledger.ts'
import { mixedLoad, type MixedLoad, type OwnedTask } from './mixedLoad.ts'
import { disturb, servicesOf, startEngines, type Engines, type Fault } from './parts.ts'
import { itEnds, keepRunning, positionOf } from './runs.ts'
import { sampler, type Curve } from './samples.ts'

export interface Soak {
  readonly minutes: number
  /** How often a part is killed or paused, in milliseconds. */
  readonly faultEveryMs?: number
  /** A folder of the soak's own. */
  readonly folder: string
  /** The file for the curves. */
  readonly svg: string
  atEnd(undo: () => Promise<unknown>): void
  tell(line: string): void
}

export interface Soaked {
  readonly curves: readonly Curve[]
  readonly faults: readonly (Fault & { readonly minute: number })[]
  readonly checked: Omit<Checked, 'expected' | 'wrong'>
  readonly capacity: number
  readonly counts: Readonly<MixedLoad['counts']>
  readonly accepted: number
  readonly viewers: number
  /** How often a viewer was told that something could not be read, and read it again. */
  readonly readAgain: number
  /** Everything that is wrong, in a sentence each. */
  readonly wrong: readonly string[]
}

const people = ['ada', 'grace'] as const
const tasksOfPerson = 25
const viewersOfPerson = 100
const madeAtOnce = 5
const inFlight = 16
/** All runs begin at once. The capacity is measured when their starts are over. */
const settledAfterMs = 30_000
const measuredMs = 30_000
/** How long viewers may take to show the end of the log. */
const caughtUpWithinMs = 120_000

export async function soak(options: Soak): Promise<Soaked> {
  const { minutes, faultEveryMs = 60_000, atEnd, tell } = options
  const engines = await startEngines(atEnd)
  const product = await startSoaked(options, engines)
  const ledger = openLedger()
  tell('The services and engines are there.')
  const tasks = await preparedTasks(product, ledger)
  tell(`${tasks.length} tasks are there.`)
  const crowds = await startViewers(product, tasks, atEnd)
  const viewers = people.length * viewersOfPerson
  tell(`${viewers} viewers are there.`)

  const over = new AbortController()
  const running = keepRunning(tasks, ledger, over.signal)
  const load = mixedLoad(tasks, ledger)
  await pause(settledAfterMs)
  const capacity = await load.capacity(inFlight, measuredMs)
  tell(
    `Beside them, ${capacity.toFixed(1)} requests a second are answered, of which half are made from now on.`,
  )

  const parts = [...servicesOf(product), ...engines.parts]
  const sampling = sampler(parts)
  const faults: Fault[] = []
  const begun = performance.now()
  const minuteOf = (at: number) => (at - begun) / 60_000
  load.times()
  await agesOf(crowds)
  const disturbing = disturb(parts, faultEveryMs, over.signal, (fault) => {
    faults.push(fault)
    tell(`Minute ${minuteOf(fault.at).toFixed(1)}: ${fault.part} is ${fault.kind}.`)
  })
  const loading = load.keepUp(capacity / 2, over.signal)
  const looking = repeatedly(Math.max(5_000, minutes * 500), over.signal, async () => {
    const latencies = { command: load.times(), output: await agesOf(crowds) }
    await sampling.sample(minuteOf(performance.now()), latencies)
  })
  const timer = setTimeout(() => over.abort(), minutes * 60_000)
  const stuck = await Promise.all([running, disturbing, loading, looking])
    .then(([ofRuns]) => ofRuns)
    .finally(() => {
      clearTimeout(timer)
      over.abort()
    })
  tell('All runs have ended; the log is compared.')

  const { expected, wrong, ...checked } = await checkLog(
    { env: engines.env, masterKey: product.masterKey, folder: options.folder },
    tasks.map(({ taskId }) => taskId),
    ledger.written,
  )
  const compared = await comparedViewers(crowds, expected, options.folder)
  const soaked: Soaked = {
    curves: sampling.curves,
    faults: faults.map((fault) => ({ ...fault, minute: minuteOf(fault.at) })),
    checked,
    capacity,
    counts: load.counts,
    accepted: ledger.written.filter(({ outcome }) => outcome === 'accepted').length,
    viewers,
    readAgain: compared.reduce((sum, { readAgain }) => sum + readAgain, 0),
    wrong: [
      ...wrong,
      ...compared.flatMap(({ wrong }) => wrong),
      ...stuck.map((taskId) => `the run of ${taskId} does not end`),
      ...load.faults,
    ],
  }
  await mkdir(dirname(options.svg), { recursive: true })
  await writeFile(options.svg, drawing(soaked, minutes))
  const { stdout, stderr } = product.logs
  if (soaked.wrong.length > 0) await writeFile(`${options.svg}.log`, `${stdout}\n${stderr}`)
  return soaked
}

async function comparedViewers(crowds: readonly Forked[], expected: Checked['expected'], folder: string) {
  const file = join(folder, 'expected.json')
  await writeFile(file, JSON.stringify(Object.fromEntries(expected)))
  const order = { compareWith: file, withinMs: caughtUpWithinMs }
  return Promise.all(crowds.map((crowd) => crowd.answer('compared', Compared, order)))
}

function drawing({ curves, faults, checked, capacity, accepted, viewers }: Soaked, minutes: number): string {
  const many = (count: number, what: string) => `${count.toLocaleString('en')} ${what}`
  const said = [
    many(checked.events, 'events'),
    many(accepted, 'accepted writes'),
    many(checked.runs, 'runs'),
    many(viewers, 'viewers'),
    many(faults.length, 'faults'),
    `${(capacity / 2).toLocaleString('en', { maximumFractionDigits: 1 })} requests a second`,
  ]
  const last = Math.max(...curves.map(({ points }) => points.at(-1)?.minute ?? 0))
  return drawn({
    title: `A soak of ${minutes} minutes`,
    subtitle: said.join(', '),
    minutes: Math.max(minutes, last),
    curves,
    faults,
  })
}

const Compared = z.object({ wrong: z.array(z.string()), readAgain: z.number() })
const Ages = z.object({ ages: z.array(z.number()) })

async function startSoaked({ atEnd }: Soak, engines: Engines): Promise<ApartProduct> {
  const model = await startStampingModel()
  atEnd(() => model.close())
  const product = await startApart({
    engines,
    env: { REQUESTS_PER_MINUTE: '0', TASKS_AT_ONCE: '100', RUNS_AT_ONCE: '60', IDLE_AGENT_SECONDS: '0' },
    envOf: (service) =>
      service === 'runner' ? { ANTHROPIC_API_KEY: 'sk-ant-soak', ANTHROPIC_BASE_URL: model.baseUrl } : {},
  })
  atEnd(() => product.stop())
  return product
}

/** Makes the tasks of each person, a few at a time, and waits until the first turn of each has ended. */
async function preparedTasks(product: ApartProduct, ledger: Ledger): Promise<readonly OwnedTask[]> {
  const made: OwnedTask[] = []
  for (const login of people) {
    const person = await product.signIn(login)
    await person.ask(createRepository, { body: { name: 'soaked', description: '', private: false } })
    const projectId = await person.project('soaked')
    const left = Array.from({ length: tasksOfPerson }, () => randomUUID())
    const worker = async () => {
      for (let taskId = left.pop(); taskId !== undefined; taskId = left.pop()) {
        await makeTask(person, { taskId, projectId }, ledger)
        made.push({ taskId, person })
      }
    }
    await Promise.all(Array.from({ length: madeAtOnce }, worker))
  }
  return made
}

async function makeTask(
  person: Person,
  { taskId, projectId }: { readonly taskId: string; readonly projectId: string },
  ledger: Ledger,
): Promise<void> {
  const answer = await ledger.write({
    person,
    taskId,
    what: 'a task',
    method: 'POST',
    path: taskRoutes.createTask.path,
    bodyWith: (mark) => ({
      id: taskId,
      projectId,
      branch: 'main',
      agent: 'claude',
      description: `${asking({ words: 1, everyMs: 0 })}, ${mark}`,
    }),
  })
  const position = positionOf(answer)
  if (position === undefined) throw new Error(`No task: ${answer.status} ${answer.text}`)
  if (!(await itEnds({ person, taskId }, position)))
    throw new Error(`The first turn of ${taskId} does not end.`)
}

async function startViewers(
  product: ApartProduct,
  tasks: readonly OwnedTask[],
  atEnd: Soak['atEnd'],
): Promise<readonly Forked[]> {
  const tokens = [...new Set(tasks.map(({ person }) => person.token))]
  const crowds = tokens.map((token) => {
    const own = tasks.filter(({ person }) => person.token === token).map(({ taskId }) => taskId)
    const plan = { base: product.base, token, tasks: own, viewers: viewersOfPerson }
    return startForked('./viewersAsInBrowser.ts', [JSON.stringify(plan)], { NODE_ENV: 'production' })
  })
  for (const crowd of crowds) atEnd(() => crowd.end())
  await Promise.all(crowds.map((crowd) => crowd.answer('ready', z.unknown())))
  return crowds
}

async function agesOf(crowds: readonly Forked[]): Promise<readonly number[]> {
  const answers = await Promise.all(crowds.map((crowd) => crowd.answer('ages', Ages, 'ages')))
  return answers.flatMap(({ ages }) => ages)
}

async function repeatedly(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  for (let due = performance.now() + everyMs; !signal.aborted; due += everyMs) {
    await pause(Math.max(0, due - performance.now()), undefined, { signal }).catch(() => undefined)
    if (!signal.aborted) await work()
  }
}
