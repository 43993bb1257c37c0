/**
 * The log of a real run as this release writes it, in `tests/data/log/v1`: its events as they are stored, what was sealed in them, and the documents
 * that they fold to. Everything that was written once must stay readable for ever: a later release adds a folder and never changes one; only a view
 * that is new, or has a new version, changes its documents. As a program, with the built product, this file creates the folder of `release`, once:
 * `npm run build && npx tsx tests/server/frozenLog.ts`.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { EventMeta, Position } from '#domain/kernel/event.schema.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { scopeOfStream } from '#domain/kernel/streams.ts'
import { views } from '#domain/views/registry.ts'
import { contentContext } from '#platform/eventlog/eventLog.ts'
import { createPullRequest, executeTask } from '#domain/api/tasks.schema.ts'
import { hasEnded, openScene } from './scene.ts'
import { openStoppedProduct } from './stoppedProduct.ts'
import { intact } from '#platform/ports/eventStore.ts'

const release = 'v1'

export interface FrozenLog {
  readonly events: readonly StoredEvent[]
  /** The plaintext that was sealed in an event, including the salt, by the event's id. */
  readonly contents: ReadonlyMap<string, string>
  /** The documents as they were stored, by the name of their collection. */
  readonly documents: ReadonlyMap<string, readonly unknown[]>
}

const folderOf = (name: string) => new URL(`../data/log/${name}/`, import.meta.url)
const Event = z.object({
  id: z.string(),
  stream: z.string(),
  revision: z.number(),
  position: Position,
  type: z.string(),
  version: z.number(),
  at: z.string(),
  data: z.unknown(),
  content: z.string().nullable(),
  meta: EventMeta,
})
const Content = z.object({ id: z.string(), plaintext: z.string() })
const Document = z.object({ collection: z.string(), document: z.unknown() })

export async function readFrozenLog(name: string): Promise<FrozenLog> {
  const linesOf = async <T>(file: string, schema: z.ZodType<T>) =>
    (await readFile(new URL(file, folderOf(name)), 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => schema.parse(JSON.parse(line)))
  const [events, contents, documents] = await Promise.all([
    linesOf('events.ndjson', Event),
    linesOf('contents.ndjson', Content),
    linesOf('documents.ndjson', Document),
  ])
  return {
    events,
    contents: new Map(contents.map(({ id, plaintext }) => [id, plaintext])),
    documents: new Map(
      views.map(({ collection }) => [
        collection,
        documents.filter((one) => one.collection === collection).map(({ document }) => document),
      ]),
    ),
  }
}

async function freeze(): Promise<void> {
  const change = { name: 'Bash', input: { command: 'echo "naïve 👩‍💻" >> README.md', description: 'Change' } }
  const scene = await openScene([
    { turns: [{ text: 'I change it.', tools: [change] }, { text: 'Changed.\n\n- one file\n- “quoted”' }] },
  ])
  const { ada, product, projectId } = scene
  const { id } = await ada.task(projectId, 'Change the README')
  const params = { taskId: id }
  await ada.taskOnce(id, hasEnded)
  await ada.ask(executeTask, { params, body: { command: 'cat README.md' } })
  await ada.taskOnce(id, (now) => hasEnded(now) && now.execution?.turn === 2)
  await ada.ask(createPullRequest, { params })
  await product.terminate()
  const stored = await openStoppedProduct(product.dataDir)
  const events = intact(await stored.eventStore.readAll(null, 10_000))
  const contents: string[] = []
  for (const { id: eventId, stream, content } of events) {
    if (content === null) continue
    const context = contentContext(stream, eventId)
    const plain = await stored.vault.open(scopeOfStream(stream), context, Buffer.from(content, 'base64'))
    contents.push(JSON.stringify({ id: eventId, plaintext: Buffer.from(plain ?? []).toString('utf8') }))
  }
  const sort = { field: 'id', direction: 'ascending' } as const
  const documents: string[] = []
  for (const { collection } of views)
    for (const document of await stored.readStore.find(collection, { where: {}, sort, limit: 10_000 }))
      documents.push(JSON.stringify({ collection, document }))
  await stored.close()
  await scene.close()
  const folder = folderOf(release)
  await mkdir(folder, { recursive: true })
  const write = (file: string, lines: readonly string[]) =>
    writeFile(new URL(file, folder), `${lines.join('\n')}\n`, { flag: 'wx' })
  await write(
    'events.ndjson',
    events.map((event) => JSON.stringify(event)),
  )
  await write('contents.ndjson', contents)
  await write('documents.ndjson', documents)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await freeze()
