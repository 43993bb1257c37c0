/** How long a character that a person types in a shell takes until the socket brings it back, while many commands print. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { executeTask } from '#domain/api/tasks.schema.ts'
import type { Live } from '../../product/live.ts'
import { startProduct } from '../../product.ts'
import type { Row, Scene } from '../row.ts'
import { percentile } from '../statistics.ts'

const commands = 10
/** Together they print as many lines as the fifty runs of the row `many-runs`. */
const printing = 'while :; do date; sleep 0.02; done'
const typed = 'the quick brown fox jumps over the lazy dog '.repeat(4)
/** A quick typist's pace. */
const betweenMs = 80

export const shellEcho: Row = {
  name: 'shell',
  onlyByName: true,
  remark: `${typed.length} characters are typed, one every ${betweenMs} ms after the last came back, while ${commands} commands print a line every 20 ms.`,
  async measure(scene) {
    const product = await startProduct({
      dataDir: join(scene.folder, 'data'),
      env: { REQUESTS_PER_MINUTE: '0', TASKS_AT_ONCE: '100', RUNS_AT_ONCE: '20', WARM_AGENTS: '20' },
    })
    scene.atEnd(() => product.stop())
    const person = await product.signIn('ada')
    const projectId = await person.project('sample')
    const taskIds: string[] = []
    for (let n = 0; n <= commands; n += 1) taskIds.push((await person.task(projectId, 'Be ready')).id)
    for (const id of taskIds) await person.taskOnce(id, ({ status }) => status === 'completed', 300_000)
    const [shellTask = '', ...printingTasks] = taskIds
    const live = await person.socket()
    scene.atEnd(async () => live.close())
    await live.join(shellTask)
    const watcher = await person.socket()
    scene.atEnd(async () => watcher.close())
    for (const taskId of printingTasks) {
      await watcher.join(taskId)
      await person.ask(executeTask, { params: { taskId }, body: { command: printing } })
    }
    const prints = () => new Set(watcher.of('command_output').map(({ taskId }) => taskId)).size
    await watcher.until('all print', () => prints() === printingTasks.length, 120_000)
    const figures = await inShell(live, shellTask)
    const floors = await inBareTerminal(scene)
    return (['p50', 'p99'] as const).map((name) => {
      const p = name === 'p50' ? 0.5 : 0.99
      return {
        name: `a typed character and back, ${name} of ${figures.length}`,
        unit: 'ms',
        figure: percentile(figures, p),
        floor: { name: `the same in a bare terminal, ${name}`, figure: percentile(floors, p) },
      }
    })
  },
}

async function inShell(live: Live, taskId: string): Promise<readonly number[]> {
  const opening = await live.openShell(taskId)
  if (!opening.opened) throw new Error(opening.error)
  const printed = () =>
    live
      .of('terminal_output')
      .filter(({ shell }) => shell)
      .map(({ content }) => content)
      .join('')
  await live.type(taskId, opening.shellId, 'stty size; exec cat\r')
  await live.until('the echo of `cat`', () => printed().includes('24 80'))
  return roundTrips(async (character) => {
    const before = printed().length
    const begun = performance.now()
    const taken = live.type(taskId, opening.shellId, character)
    await live.until('the character', () => printed().length > before)
    const took = performance.now() - begun
    await taken
    return took
  })
}

/** `script` gives `cat` a terminal, and passes on what is typed and echoed. */
async function inBareTerminal(scene: Scene): Promise<readonly number[]> {
  const child = spawn('script', ['-qfc', 'cat', '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] })
  scene.atEnd(async () => void child.kill('SIGKILL'))
  return roundTrips(async (character) => {
    const begun = performance.now()
    const echoed = new Promise<number>((resolve) =>
      child.stdout.once('data', () => resolve(performance.now() - begun)),
    )
    child.stdin.write(character)
    return echoed
  })
}

async function roundTrips(type: (character: string) => Promise<number>): Promise<readonly number[]> {
  const figures: number[] = []
  for (const character of typed) {
    figures.push(await type(character))
    await pause(betweenMs)
  }
  return figures
}
