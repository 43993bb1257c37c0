/** Measures the bytes that turns and events leave on the disk, in one process on the embedded engines. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { executeTask } from '#domain/api/tasks.schema.ts'
import type { Costs } from './costs.ts'
import { freePortsFor } from '../../freePorts.ts'
import type { Person } from '../../product/person.ts'
import { startProduct } from '../../product.ts'

const turns = 12
const printing = 6
const lines = 300
const withinMs = 180_000
const program = `for n in $(seq ${lines}); do echo "$n  the widget that was made round is now checked against its drawing"; sleep 0.06; done`

type DiskCosts = {
  readonly turn: Pick<
    Costs['turn'],
    'events' | 'logBytes' | 'documentBytes' | 'otherBytes' | 'workspaceBytes'
  >
  readonly event: Pick<Costs['event'], 'logBytes' | 'documentBytes'>
}

interface Sizes {
  readonly log: number
  readonly documents: number
  readonly workspaces: number
  readonly other: number
}

/** Works in three starts of one product, since a database is at its size only when it was closed. */
export async function costsOnDisk(folder: string): Promise<DiskCosts> {
  const dataDir = join(folder, 'data')
  const starts = async (work: (person: Person) => Promise<unknown>) => {
    const [metricsPort = 0] = await freePortsFor(1)
    const env = { REQUESTS_PER_MINUTE: '0', TASKS_AT_ONCE: '100', METRICS_PORT: String(metricsPort) }
    const product = await startProduct({ dataDir, env })
    try {
      await work(await product.signIn('ada'))
      return await appended(metricsPort)
    } finally {
      await product.stop()
    }
  }
  let projectId = ''
  const taskIds: string[] = []
  const work = async (person: Person, count: number) => {
    for (let n = 0; n < count; n += 1) {
      const { id } = await person.task(projectId, 'Add a line to the notes')
      await person.taskOnce(id, ({ status }) => status === 'completed', withinMs)
      taskIds.push(id)
    }
  }
  await starts(async (person) => {
    projectId = await person.project('sample')
    await work(person, 1)
  })
  const atFirst = await sizesOf(dataDir)
  const eventsOfTurns = await starts((person) => work(person, turns))
  const afterTurns = await sizesOf(dataDir)
  const eventsOfLines = await starts(async (person) => {
    const printers = taskIds.slice(0, printing)
    for (const taskId of printers)
      await person.ask(executeTask, { params: { taskId }, body: { command: program } })
    for (const taskId of printers)
      await person.taskOnce(taskId, ({ status }) => status === 'completed', withinMs)
  })
  const afterLines = await sizesOf(dataDir)
  const ofTurn = (part: keyof Sizes) => Math.max(0, afterTurns[part] - atFirst[part]) / turns
  const ofLine = (part: keyof Sizes) => Math.max(0, afterLines[part] - afterTurns[part]) / eventsOfLines
  return {
    turn: {
      events: eventsOfTurns / turns,
      logBytes: ofTurn('log'),
      documentBytes: ofTurn('documents'),
      otherBytes: ofTurn('other'),
      workspaceBytes: ofTurn('workspaces'),
    },
    event: { logBytes: ofLine('log'), documentBytes: ofLine('documents') },
  }
}

/** The events that the product has appended since its start. */
async function appended(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const counts = [...text.matchAll(/^flightdeck_events_appended_total\{[^}]*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

async function sizesOf(dataDir: string): Promise<Sizes> {
  const sizes = { log: 0, documents: 0, workspaces: 0, other: 0 }
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const part = partOf(file.slice(dataDir.length + 1))
    // What the file takes on the disk, in blocks of 512 bytes.
    if (part !== undefined) sizes[part] += (await stat(file)).blocks * 512
  }
  return sizes
}

function partOf(name: string): keyof Sizes | undefined {
  if (name.startsWith('events.sqlite')) return 'log'
  if (name.startsWith('views.sqlite')) return 'documents'
  if (name.startsWith('runner/')) return 'workspaces'
  // Room that is kept free, and another server.
  if (name === 'ballast' || name.startsWith('codehost/')) return undefined
  return 'other'
}
