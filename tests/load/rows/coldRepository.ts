/** From the request that creates a task to the agent's first line, when the repository of 50 MB has not been fetched yet. */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Person } from '../../product/person.ts'
import { startProduct } from '../../product.ts'
import { bareTurn } from '../floors/bareClaude.ts'
import { git, makeRepository } from '../repository.ts'
import type { Row, Scene } from '../row.ts'
import { asking, startStampingModel } from '../stampingModel.ts'
import { median } from '../statistics.ts'

const rounds = 3
const megabytes = 50
const message = asking({ words: 1, everyMs: 0 })

export const coldRepository: Row = {
  name: 'cold-repository',
  onlyByName: true,
  remark: `The repository has ${megabytes} files of 1 MB that do not compress. The floor clones it from the disk, without its working tree, and then starts the agent.`,
  async measure(scene) {
    const model = await startStampingModel()
    scene.atEnd(() => model.close())
    const figures: number[] = []
    const clones: number[] = []
    const agents: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const repository = await largeRepository(scene)
      const begun = performance.now()
      await git(scene, ['clone', '--quiet', '--bare', '--no-local', '--', repository, await target(scene)])
      clones.push(performance.now() - begun)
      const bare = await bareTurn(scene, model.baseUrl, message)
      agents.push(bare.firstLineAt - bare.startedAt)

      const product = await startProduct({
        dataDir: await mkdtemp(join(scene.folder, 'data-')),
        repos: [repository],
        env: { ANTHROPIC_API_KEY: 'sk-ant-bench', ANTHROPIC_BASE_URL: model.baseUrl },
      })
      try {
        figures.push(await firstLine(await product.signIn('ada')))
      } finally {
        await product.stop()
      }
    }
    return [
      {
        name: `POST /tasks to the agent's first line, ${megabytes} MB to clone`,
        unit: 'ms',
        figure: median(figures),
        floor: { name: 'git clone and the bare CLI', figure: median(clones) + median(agents) },
      },
    ]
  },
}

async function firstLine(person: Person): Promise<number> {
  const projectId = await person.project('large')
  const live = await person.socket()
  const askedAt = performance.now()
  const task = await person.task(projectId, message)
  await live.join(task.id, task.position)
  const { at } = await live.until(
    "the agent's first line",
    ({ name, payload }) => name === 'task_event' && 'type' in payload && payload.type === 'AgentStarted',
    120_000,
  )
  live.close()
  return at - askedAt
}

async function largeRepository(scene: Scene): Promise<string> {
  const folder = join(await mkdtemp(join(scene.folder, 'repository-')), 'large')
  await mkdir(folder)
  for (let n = 0; n < megabytes; n += 1)
    await writeFile(join(folder, `file-${n}.bin`), randomBytes(1_000_000))
  await makeRepository(scene, folder)
  return folder
}

const target = async (scene: Scene) => join(await mkdtemp(join(scene.folder, 'clone-')), 'large.git')
