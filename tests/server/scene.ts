/** A scene: the product with a repository of ada's, the real CLI, and a stand-in for the model's API with scripted answers. */
import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { localRepository } from '../contracts/codeHost.fixture.ts'
import type { Live } from '../product/live.ts'
import type { Person } from '../product/person.ts'
import { ownFolder, startProduct, type Product, type ProductOptions } from '../product.ts'
import { startMessagesApi, type MessagesApi, type Script } from '../standins/messagesApi.ts'

export interface Scene {
  readonly product: Product
  readonly api: MessagesApi
  readonly ada: Person
  /** The repository `engine`, as a project of ada's. */
  readonly projectId: string
  readonly repository: string
  close(): Promise<void>
}

export const files = {
  'README.md': '# Engine\n\nIt computes.\n',
  'src/greet.js': 'export const greeting = "hello"\n',
}

/** Starts the scene; `close` stops everything and checks that no process of the product is left. */
export async function openScene(scripts: readonly Script[], options: ProductOptions = {}): Promise<Scene> {
  const folder = await ownFolder()
  const repository = join(folder, 'engine')
  await localRepository(repository, files)
  // Git refuses to read a repository of another user.
  if (options.user !== undefined) execFileSync('chown', ['-R', String(options.user), folder])
  const api = await startMessagesApi(scripts)
  const discard = async () => {
    await api.close()
    await rm(folder, { recursive: true, force: true })
  }
  let product: Product | undefined
  try {
    product = await startProduct({ repos: [repository], model: { messagesApi: api }, ...options })
    const running = product
    const ada = await running.signIn('ada')
    const projectId = await ada.project('engine')
    return {
      product: running,
      api,
      ada,
      projectId,
      repository,
      close: () => running.stop().finally(discard),
    }
  } catch (fault) {
    await product?.stop().catch(() => undefined)
    await discard()
    throw fault
  }
}

/** A live connection that is in the task's room. */
export async function watching(person: Person, taskId: string): Promise<Live> {
  const live = await person.socket()
  const joined = await live.join(taskId)
  if (!joined.joined) throw new Error(`The room cannot be joined: ${joined.error}`)
  return live
}

const ends = new Set(['completed', 'failed', 'cancelled'])
/** Whether a task has come to its end. */
export const hasEnded = ({ status }: { readonly status: string }): boolean => ends.has(status)
