/** A scene with services in processes of their own: a repository of ada's, the real CLI, and a stand-in for the model's API. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { gitDone, localRepository } from '../contracts/codeHost.fixture.ts'
import { startApart, type ApartOptions, type ApartProduct } from '../product/servicesApart.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { Person } from '../product/person.ts'
import { ownFolder } from '../product.ts'
import type { MongoServer } from '../servers/mongodb.ts'
import { startSharedEngines, type SharedEngines } from '../servers/sharedEngines.ts'
import { startMessagesApi, type Script } from '../standins/messagesApi.ts'
import { files, hasEnded } from './scene.ts'

export interface ApartScene {
  readonly engines: SharedEngines
  readonly product: ApartProduct
  readonly ada: Person
  /** The repository `engine`, with the branches `main` and `release`, as a project of ada's. */
  readonly projectId: string
  /** Ada at another gateway. */
  adaAt(gateway: number): Person
  close(): Promise<void>
}

/** Starts the scene; `close` stops everything and checks that no process of the product is left. */
export async function openApartScene(
  server: MongoServer,
  scripts: readonly Script[],
  count: ApartOptions['count'] = {},
  environment: Pick<ApartOptions, 'env' | 'envOf'> = {},
): Promise<ApartScene> {
  const ends: (() => Promise<unknown>)[] = []
  const close = async () => {
    const failed: unknown[] = []
    for (const end of ends.splice(0).reverse()) await end().catch((fault: unknown) => failed.push(fault))
    if (failed.length > 0) throw failed[0]
  }
  let told: ApartProduct['logs'] | undefined
  try {
    const folder = await ownFolder()
    ends.push(() => rm(folder, { recursive: true, force: true }))
    const repository = join(folder, 'engine')
    await localRepository(repository, files)
    await gitDone(repository, ['branch', 'release'])
    const api = await startMessagesApi(scripts)
    ends.push(() => api.close())
    const engines = await startSharedEngines(server)
    ends.push(() => engines.close())
    const model = { messagesApi: api }
    const product = await startApart({ engines, repos: [repository], model, count, ...environment })
    ends.push(() => product.stop())
    told = product.logs
    const ada = await product.signIn('ada')
    const projectId = await ada.project('engine')
    const adaAt = (gateway: number) => product.personAt(gateway, ada.token)
    return { engines, product, ada, projectId, adaAt, close }
  } catch (fault) {
    if (told) process.stderr.write(`The product printed:\n${told.stdout}${told.stderr}\n`)
    await close().catch(() => undefined)
    throw fault
  }
}

/** The model's answers to `Change something`. */
export const changeSomething: Script = {
  when: /Change something/,
  turns: [
    { tools: [{ name: 'Bash', input: { command: 'echo more >> README.md', description: 'Add' } }] },
    { text: 'Changed.' },
  ],
}

/** A task that has done its work and can get further messages. */
export async function readyTask({ ada, projectId }: ApartScene): Promise<Task> {
  const { id } = await ada.task(projectId, 'Change something')
  return ada.taskOnce(id, hasEnded)
}
