/**
 * `npm run bench`: measures, and prints each figure beside its floor. `npm run bench -- <row>...` measures some rows only.
 * Figures are printed and never asserted. A row that fails is reported, and the exit code is 1.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { within } from '../product/live.ts'
import { thisMachine } from './machine.ts'
import { environment, root } from './project.ts'
import type { Line, Row, Seeded } from './row.ts'
import { appends } from './rows/appends.ts'
import { commandsOverHttp } from './rows/commandsOverHttp.ts'
import { firstLine } from './rows/firstLine.ts'
import { coldRepository } from './rows/coldRepository.ts'
import { environmentTaken } from './rows/environmentTaken.ts'
import { followUp } from './rows/followUp.ts'
import { manyRuns } from './rows/manyRuns.ts'
import { idleMemory } from './rows/idleMemory.ts'
import { live } from './rows/live.ts'
import { longTask } from './rows/longTask.ts'
import { million } from './rows/million.ts'
import { outputLatency } from './rows/outputLatency.ts'
import { replay } from './rows/replay.ts'
import { requests } from './rows/requests.ts'
import { rivals } from './rows/rivals.ts'
import { shellEcho } from './rows/shellEcho.ts'
import { soakRow } from './rows/soak.ts'
import { startToReady } from './rows/startToReady.ts'
import { taskList } from './rows/taskList.ts'
import { web } from './rows/web.ts'
import { seed } from './seed.ts'
import { heading, printed } from './table.ts'
import { openUndo, type Undo } from './undo.ts'

const rows: readonly Row[] = [
  appends,
  commandsOverHttp,
  taskList,
  longTask,
  replay,
  outputLatency,
  live,
  firstLine,
  environmentTaken,
  followUp,
  coldRepository,
  manyRuns,
  shellEcho,
  startToReady,
  idleMemory,
  million,
  requests,
  web,
  soakRow,
  rivals,
]

const buildWithinMs = 300_000
/** The time after which a row counts as hanging. It is long, because a busy machine makes a row slower. */
const rowWithinMs = 1_200_000
const amounts = { tasks: 1_000, terminalEvents: 100_000, isSealed: true }

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !rows.some((row) => row.name === name))
if (unknown.length > 0) {
  console.error(`No row: ${unknown.join(', ')}. The rows are ${rows.map((row) => row.name).join(', ')}.`)
  process.exit(1)
}
const chosen = rows.filter((row) => (asked.length === 0 ? !row.onlyByName : asked.includes(row.name)))

const undo = openUndo()
const broken = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    process.exitCode = 130
    broken.abort(new Error(`Broken off by ${name}.`))
  })
}
try {
  await bench(chosen, undo, broken.signal)
} finally {
  await undo.downTo(0)
}
// Ends everything that an abandoned row has left running.
process.exit()

async function bench(chosen: readonly Row[], undo: Undo, signal: AbortSignal): Promise<void> {
  const cache = join(root, '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'bench-'))
  undo.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
  // A start builds outdated parts, so this happens before anything is measured.
  const start = [join(root, 'scripts/start.js'), '--help']
  const env = environment(folder)
  await promisify(execFile)(process.execPath, start, { env, signal, timeout: buildWithinMs })

  const machine = thisMachine()
  console.log(heading(machine))
  const lines = await measured(chosen, folder, undo, signal)
  await writeFile(join(cache, 'bench.json'), JSON.stringify({ at: new Date(), machine, lines }, null, 2))
}

/** Measures the rows one after the other, each in a folder of its own, and prints the lines of each as soon as it has ended. */
async function measured(
  chosen: readonly Row[],
  folder: string,
  undo: Undo,
  signal: AbortSignal,
): Promise<readonly Line[]> {
  let seeding: Promise<Seeded> | undefined
  const seeded = () => (seeding ??= seed(join(folder, 'seeded'), amounts))
  const brokenOff = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  const lines: Line[] = []
  for (const row of chosen) {
    if (signal.aborted) break
    const above = undo.steps
    const own = await mkdtemp(join(folder, `${row.name}-`))
    const measuring = row.measure({ folder: own, seeded, atEnd: undo.add })
    try {
      const limited = within(row.withinMs ?? rowWithinMs, `The row ${row.name} does not end`, measuring)
      const found = await Promise.race([limited, brokenOff])
      lines.push(...found)
      for (const line of found) console.log(printed(line))
      if (row.remark !== undefined) console.log(row.remark)
    } catch (fault) {
      process.exitCode ??= 1
      console.error(`${row.name} failed.`, fault)
    }
    await undo.downTo(above)
  }
  return lines
}
