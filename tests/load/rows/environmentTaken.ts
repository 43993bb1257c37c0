/** From the request that creates a task to the agent's first word, in a project with a kept environment, and in one without a setup, in turn. */
import { mkdtemp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import type { Person } from '../../product/person.ts'
import { startProduct } from '../../product.ts'
import { hasEnded } from '../../server/scene.ts'
import { makeRepository } from '../repository.ts'
import type { Row, Scene } from '../row.ts'
import { asking, startStampingModel } from '../stampingModel.ts'
import { median } from '../statistics.ts'
import { wordCame } from './firstLine.ts'

const rounds = 9
const message = asking({ words: 3, everyMs: 0 })
/** Leaves 3,000 files, 60 MB in all, in the workspace, and 20 MB in the home. */
const setupCommand =
  "mkdir -p deps ~/.cache && echo '*' > deps/.gitignore && head -c 60000000 /dev/urandom | split -a 4 -b 20000 - deps/part- && head -c 20000000 /dev/urandom > ~/.cache/packages"

export const environmentTaken: Row = {
  name: 'environment',
  remark: 'The environment has 3,000 files and 80 MB.',
  async measure(scene) {
    const model = await startStampingModel()
    scene.atEnd(() => model.close())
    const product = await startProduct({
      dataDir: await mkdtemp(join(scene.folder, 'data-')),
      repos: [await repository(scene, 'plain'), await repository(scene, 'prepared')],
      env: { ANTHROPIC_API_KEY: 'sk-ant-bench', ANTHROPIC_BASE_URL: model.baseUrl },
    })
    scene.atEnd(() => product.stop())
    const person = await product.signIn('ada')
    const plain = await person.project('plain')
    const prepared = await person.project('prepared')
    await person.ask(updateProjectSettings, {
      params: { projectId: prepared },
      body: { setupCommand },
    })
    await firstWord(person, plain)
    await firstWord(person, prepared)
    const figures: number[] = []
    const floors: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      floors.push((await firstWord(person, plain)).ms)
      const { ms, terminal } = await firstWord(person, prepared)
      if (!terminal.includes('and is used again.')) throw new Error(`No environment was used: ${terminal}`)
      figures.push(ms)
    }
    return [
      {
        name: "POST /tasks to the agent's first word, with a kept environment",
        unit: 'ms',
        figure: median(figures),
        floor: { name: 'the same without a setup', figure: median(floors) },
      },
    ]
  },
}

async function firstWord(person: Person, projectId: string) {
  const live = await person.socket()
  try {
    const askedAt = performance.now()
    const { id: taskId, position } = await person.task(projectId, message)
    await live.join(taskId, position)
    const { at } = await live.until("the agent's first word", wordCame, 120_000)
    await person.taskOnce(taskId, hasEnded)
    const { output } = await person.ask(getTerminal, { params: { taskId } })
    return { ms: at - askedAt, terminal: output.map(({ content }) => content).join('') }
  } finally {
    live.close()
  }
}

async function repository(scene: Scene, name: string): Promise<string> {
  const folder = join(await mkdtemp(join(scene.folder, 'repository-')), name)
  await mkdir(folder)
  await writeFile(join(folder, 'README.md'), `# ${name}\n`)
  await makeRepository(scene, folder)
  return folder
}
