/** Everything that a walk needs: the built product, a model with the answers of the test, repositories, and a browser. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localRepository } from '../contracts/codeHost.fixture.ts'
import { startApart, type ApartProduct } from '../product/servicesApart.ts'
import { startProduct, type AnyProduct, type Product, type ProductOptions } from '../product.ts'
import type { MongoServer } from '../servers/mongodb.ts'
import { startSharedEngines } from '../servers/sharedEngines.ts'
import { note } from '../report/notes.ts'
import { startMessagesApi, type MessagesApi, type Script } from '../standins/messagesApi.ts'
import { openChromium } from './chromium.ts'
import { openVisit, type Visit, type VisitOptions } from './visit.ts'

export interface StageOptions {
  /** The answers of the model. */
  readonly scripts?: readonly Script[]
  /** No key for a model is set, so the built-in model answers. */
  readonly keyless?: boolean
  /** Repositories of ada's, by name, each with its files. */
  readonly repositories?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Variables that an operator would set. */
  readonly env?: Readonly<Record<string, string>>
  /** The code host: the built-in one, or a stand-in for GitHub. */
  readonly codeHost?: ProductOptions['codeHost']
}

export interface Stage<P extends AnyProduct = Product> {
  readonly product: P
  readonly model: MessagesApi
  /** A folder that is removed with the stage. */
  readonly folder: string
  visit(options?: VisitOptions): Promise<Visit>
  close(): Promise<void>
}

/** The product in one process, as with `npm start`. */
export function openStage(options: StageOptions = {}): Promise<Stage> {
  return openStageOf(options, (productOptions, ends) => kept(startProduct(productOptions), ends))
}

/** The product in several processes, with shared engines. */
export function openStageApart(
  server: MongoServer,
  options: StageOptions = {},
): Promise<Stage<ApartProduct>> {
  return openStageOf(options, async (productOptions, ends) => {
    const engines = await startSharedEngines(server)
    ends.push(() => engines.close())
    return kept(startApart({ ...productOptions, engines }), ends)
  })
}

type Ends = (() => Promise<unknown>)[]

async function kept<P extends AnyProduct>(starting: Promise<P>, ends: Ends): Promise<P> {
  const product = await starting
  ends.push(() => product.stop())
  return product
}

/** Starts everything; what was started is ended when a later part does not start. */
async function openStageOf<P extends AnyProduct>(
  { scripts = [], keyless = false, repositories = {}, env = {}, codeHost = 'local' }: StageOptions,
  start: (options: Pick<ProductOptions, 'repos' | 'model' | 'env' | 'codeHost'>, ends: Ends) => Promise<P>,
): Promise<Stage<P>> {
  note('messages of the model', 'a scripted Messages API, not Anthropic')
  const isLocal = codeHost === 'local' && env['GITHUB_SERVER_URL'] === undefined
  note('the code host', isLocal ? 'the local code host, not GitHub' : 'a stand-in for GitHub')
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-e2e-'))
  const ends: Ends = [() => rm(folder, { recursive: true, force: true })]
  const close = async () => {
    // Ended in the reverse order; each part is ended even if an earlier one failed to end.
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
    const answering = keyless ? 'scripted' : { messagesApi: model }
    const product = await start({ repos, model: answering, env, codeHost }, ends)
    const browser = await openChromium(folder)
    ends.push(() => browser.close())
    return { product, model, folder, visit: (options) => openVisit(browser, product.base, options), close }
  } catch (fault) {
    await close()
    throw fault
  }
}
