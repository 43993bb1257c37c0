/** How long output takes to arrive with one run and with fifty, and how much memory a run costs apart from its own processes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { executeTask } from '#domain/api/tasks.schema.ts'
import type { Live } from '../../product/live.ts'
import type { Person } from '../../product/person.ts'
import { startProduct } from '../../product.ts'
import { residentMegabytes } from '../processes.ts'
import type { Line, Row, Scene } from '../row.ts'
import { percentile } from '../statistics.ts'

const counts = [1, 50]
const printed = 40
/** Prints a line every tenth of a second, with the time at which it was printed, in milliseconds since 1970. */
const printing = `for n in $(seq ${printed}); do date +@%s%3N@; sleep 0.1; done`

export const manyRuns: Row = {
  name: 'many-runs',
  onlyByName: true,
  remark: `Each run is a command in a sandbox of its own that prints ${printed} lines, one every 100 ms.`,
  async measure(scene) {
    const product = await startProduct({
      dataDir: join(scene.folder, 'data'),
      env: { REQUESTS_PER_MINUTE: '0', TASKS_AT_ONCE: '100', RUNS_AT_ONCE: '50', IDLE_AGENT_SECONDS: '0' },
    })
    scene.atEnd(() => product.stop())
    const person = await product.signIn('ada')
    const projectId = await person.project('sample')
    const taskIds: string[] = []
    for (let n = 0; n < Math.max(...counts); n += 1) {
      const { id } = await person.task(projectId, 'Be ready')
      taskIds.push(id)
    }
    for (const id of taskIds) await person.taskOnce(id, ({ status }) => status === 'completed', 300_000)
    const [server] = await product.processes()
    const memory = () => residentMegabytes(server?.pid ?? 0)

    const bare = await bareLatencies(scene)
    const lines: Line[] = []
    for (const count of counts) {
      const before = await memory()
      const { latencies, peak } = await runTogether(person, taskIds.slice(0, count), memory)
      for (const [name, p] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const)
        lines.push({
          name: `output of ${count === 1 ? 'a run' : `${count} runs`} to the socket, ${name}`,
          unit: 'ms',
          figure: percentile(latencies, p),
          floor: { name: `the same through a pipe, once, ${name}`, figure: percentile(bare, p) },
        })
      if (count > 1)
        lines.push({
          name: `memory of the server for each of ${count} runs`,
          unit: 'MB',
          figure: Math.max(0, peak - before) / count,
          floor: { name: 'the server before them', figure: before },
        })
    }
    return lines
  },
}

/** Runs the command in all these tasks at once, and returns the age of each line when it arrived. */
async function runTogether(person: Person, taskIds: readonly string[], memory: () => Promise<number>) {
  const live = await person.socket()
  try {
    for (const taskId of taskIds) await live.join(taskId)
    let peak = 0
    const looking = setInterval(() => {
      void memory().then((megabytes) => (peak = Math.max(peak, megabytes)))
    }, 250)
    await Promise.all(
      taskIds.map((taskId) => person.ask(executeTask, { params: { taskId }, body: { command: printing } })),
    )
    const ended = () => live.of('command_completed').length
    await live.until('the end of all', () => ended() === taskIds.length, 120_000)
    clearInterval(looking)
    return { latencies: latenciesOf(live), peak }
  } finally {
    live.close()
  }
}

function latenciesOf(live: Live): readonly number[] {
  return live.heard.flatMap((event) => {
    if (event.name !== 'command_output') return []
    const at = performance.timeOrigin + event.at
    return [...event.payload.output.matchAll(/@(\d{13})@/g)].map(([, sentAt]) => at - Number(sentAt))
  })
}

async function bareLatencies(scene: Scene): Promise<readonly number[]> {
  const child = spawn('/bin/bash', ['-c', printing], {
    cwd: await mkdtemp(join(scene.folder, 'bare-')),
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const latencies: number[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    const at = performance.timeOrigin + performance.now()
    for (const [, sentAt] of chunk.toString('utf8').matchAll(/@(\d{13})@/g))
      latencies.push(at - Number(sentAt))
  })
  await once(child, 'close')
  return latencies
}
