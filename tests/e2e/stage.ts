/** All that a walk needs: the built product, a model that says what a test wrote down, repositories, and a browser. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localRepository } from '../contracts/codeHost.fixture.ts'
import { startProduct, type Product } from '../product.ts'
import { note } from '../report/notes.ts'
import { startMessagesApi, type MessagesApi, type Script } from '../standins/messagesApi.ts'
import { openChromium } from './chromium.ts'
import { openVisit, type Visit, type VisitOptions } from './visit.ts'

export interface StageOptions {
  /** What the model answers. */
  readonly scripts?: readonly Script[]
  /** Repositories that ada brings in, by name, each with its files. */
  readonly repositories?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export interface Stage {
  readonly product: Product
  readonly model: MessagesApi
  /** A folder that goes with the stage. */
  readonly folder: string
  visit(options?: VisitOptions): Promise<Visit>
  close(): Promise<void>
}

/** Starts everything; what was started is ended when a later part does not start. */
export async function openStage({ scripts = [], repositories = {} }: StageOptions = {}): Promise<Stage> {
  note('messages of the model', 'a scripted Messages API, not Anthropic')
  note('the code host', 'the local code host, not GitHub')
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-e2e-'))
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const close = async () => {
    // The last that started ends first, and each ends also when one before it failed to.
    const failed: unknown[] = []
    for (const end of ends.splice(0).reverse()) await end().catch((fault: unknown) => failed.push(fault))
    if (failed.length > 0) throw failed[0]
  }
  try {
    const repos: string[] = []
    for (const [name, files] of Object.entries(repositories)) {
      await localRepository(join(folder, name), files)
      repos.push(join(folder, name))
    }
    const model = await startMessagesApi(scripts)
    ends.push(() => model.close())
    const product = await startProduct({ repos, model: { messagesApi: model } })
    ends.push(() => product.stop())
    const browser = await openChromium(folder)
    ends.push(() => browser.close())
    return { product, model, folder, visit: (options) => openVisit(browser, product.base, options), close }
  } catch (fault) {
    await close()
    throw fault
  }
}
