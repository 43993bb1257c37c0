/** The routes that read a task's chat, command log, images and terminal. A page has the latest items, oldest first. */
import { getChat, getCommands, getTaskImages, getTerminal } from '#domain/api/chat.schema.ts'
import { isImageType } from '#domain/api/artifacts.ts'
import { limits } from '#domain/api/limits.ts'
import { sortKey, type Position } from '#domain/kernel/event.ts'
import { chatMessageOf, chatView } from '#domain/views/chat.ts'
import { logEntryOf, logView, type LogDocument } from '#domain/views/commandLog.ts'
import type { View, ViewDocument } from '#domain/views/view.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { artifactsOf } from '#platform/reads/artifacts.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { route, ownTask, type QueryServices } from '../services.ts'

/** How many of the latest messages are searched for images, and how many of the latest tool calls with images are read. */
const mostWithImages = 1_000

export const chatRoutes: readonly Route<QueryServices>[] = [
  route(getChat, signedIn, fresh, ownTask, async ({ task, query }, { documents, imageAddresses }) => {
    const { addressOf } = imageAddresses
    const messages = await latest(documents, chatView, task.id, query)
    return {
      messages: messages.map((message) => chatMessageOf(message, task, addressOf)),
      version: task.version,
    }
  }),
  route(getCommands, signedIn, fresh, ownTask, async ({ task, query }, { documents, imageAddresses }) => {
    const shown = (entry: LogDocument) => logEntryOf(entry, imageAddresses.addressOf)
    const logs = await latest(documents, logView, task.id, query)
    const open = query.before === undefined ? await openBefore(documents, task.id, logs[0]) : []
    return { logs: logs.map(shown), open: open.map(shown), version: task.version }
  }),
  route(getTaskImages, signedIn, fresh, ownTask, async ({ task }, { documents, imageAddresses }) => {
    const { addressOf } = imageAddresses
    const page = { limit: mostWithImages }
    const messages = await latest(documents, chatView, task.id, page)
    const logs = await latest(documents, logView, task.id, page, { hasImages: true })
    const artifacts = await artifactsOf(documents, task.id, addressOf)
    return {
      images: [
        ...messages.flatMap((message) => chatMessageOf(message, task, addressOf).images),
        ...logs.flatMap((entry) => logEntryOf(entry, addressOf).images ?? []),
        ...artifacts.flatMap(({ id, url, name, size, type }) =>
          name !== null && isImageType(type) ? [{ id, url, name, size, type }] : [],
        ),
      ],
    }
  }),
  route(getTerminal, signedIn, fresh, ownTask, ({ task, query }, { terminalTexts }) =>
    terminalTexts.of(task, query),
  ),
]

interface PageQuery {
  readonly limit: number
  readonly before?: Position | undefined
}

async function latest<D extends ViewDocument & { readonly order: string }>(
  documents: Documents,
  view: View<D>,
  taskId: string,
  { limit, before }: PageQuery,
  wanted: Readonly<Record<string, boolean>> = {},
): Promise<readonly D[]> {
  const found = await documents.find(view, {
    where: { task: taskId, ...wanted },
    sort: { field: 'order', direction: 'descending' },
    limit,
    ...(before === undefined ? {} : { after: { value: sortKey(before), id: '' } }),
  })
  return [...found].reverse()
}

/** The queued and running entries that come before the first entry of a page. */
async function openBefore(
  documents: Documents,
  taskId: string,
  first: LogDocument | undefined,
): Promise<readonly LogDocument[]> {
  if (first === undefined) return []
  return documents.find(logView, {
    where: { task: taskId, status: ['queued', 'running'] },
    sort: { field: 'order', direction: 'descending' },
    limit: limits.queueLength,
    after: { value: first.order, id: '' },
  })
}
