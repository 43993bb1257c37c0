/** Reads a task's history from the server without the store, which is not made for a hundred thousand events. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { chatRoutes } from '#domain/api/chat.ts'
import type { ChatMessage, getChat } from '#domain/api/chat.schema.ts'
import { historyRoutes } from '#domain/api/history.ts'
import type { getRecordedChanges, getTaskHistory } from '#domain/api/history.schema.ts'
import type { ShownImage } from '#domain/api/images.schema.ts'
import type { GitDiff } from '#domain/api/tasks.schema.ts'
import type { HistoryItem } from '#domain/history/item.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { logReason } from '../../../api/logFailure.ts'
import { newId } from '../../../api/newId.ts'
import { request } from '../../../api/request.ts'
import { readToken } from '../../../api/tokenStore.ts'
import { texts } from './texts.ts'

export type Missing = AnswerOf<typeof getTaskHistory>['missing'][number]

export interface HistoryPage {
  readonly items: readonly HistoryItem[]
  readonly next: string
  readonly more: boolean
  readonly total: number
  readonly missing: readonly Missing[]
}

/** `type` is a media type. */
export type RecordedImage = Pick<ShownImage, 'id' | 'url'> & { readonly type: string }

/** A source of a history: the server, or an exported file. */
export interface HistorySource {
  /** The page after a cursor, or why it cannot be read. `to` says that the history is being saved, which the server records. */
  page(
    after: string | undefined,
    signal: AbortSignal,
    to?: 'replay',
  ): Promise<HistoryPage | { readonly reason: string }>
  /** The changes recorded at a revision of the task's stream. */
  changes(revision: number): Promise<RecordedChanges | { readonly reason: string }>
  /** The images of the task and of its messages; empty when they cannot be read. */
  images(signal: AbortSignal): Promise<readonly RecordedImage[]>
  /** The bytes at an address; `null` when they cannot be read. */
  bytes(url: string, signal: AbortSignal): Promise<Uint8Array | null>
}

export interface RecordedChanges {
  readonly diff: GitDiff
  /** Whether the diff itself is still stored. */
  readonly kept: boolean
}

export function serverSource(taskId: string): HistorySource {
  return {
    async page(after, signal, to) {
      const call = requestOf<typeof getTaskHistory>(historyRoutes.getTaskHistory, {
        params: { taskId },
        query: { after, export: to },
        fallback: texts.notFetched,
      })
      const answer = await ask(call, signal)
      if ('reason' in answer) return answer
      return isPage(answer.data) ? answer.data : { reason: texts.notFetched }
    },
    async changes(revision) {
      const call = requestOf<typeof getRecordedChanges>(historyRoutes.getRecordedChanges, {
        params: { taskId },
        query: { revision },
        fallback: texts.changesNotFetched,
      })
      const answer = await ask(call, new AbortController().signal)
      if ('reason' in answer) return answer
      const { data } = answer
      return isChanges(data) ? { diff: data.data, kept: data.kept } : { reason: texts.changesNotFetched }
    },
    async images(signal) {
      const call = requestOf<typeof getChat>(chatRoutes.getChat, {
        params: { taskId },
        query: { limit: mostMessages },
        fallback: texts.notFetched,
      })
      const answer = await ask(call, signal)
      return 'reason' in answer ? [] : imagesIn(answer.data)
    },
    async bytes(url, signal) {
      try {
        const answer = await fetch(url, { signal })
        return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : null
      } catch {
        return null
      }
    },
  }
}

/** How many messages are searched for images. */
const mostMessages = 1_000

function imagesIn(answer: unknown): readonly ShownImage[] {
  if (typeof answer !== 'object' || answer === null || !('messages' in answer)) return []
  const { messages } = answer
  return Array.isArray(messages)
    ? messages.flatMap((message: Partial<Pick<ChatMessage, 'images'>>) => message.images ?? [])
    : []
}

async function ask(
  call: Parameters<typeof request>[0],
  signal: AbortSignal,
): Promise<{ readonly data: unknown } | { readonly reason: string }> {
  const answer = await request(call, {
    fetch: (...args) => fetch(...args),
    token: readToken(),
    signal,
    newId,
  })
  if (!('error' in answer)) return answer
  logReason(answer.error)
  return { reason: answer.error.message }
}

/** Whether it is a page; its events come from our server and are folded like live ones, so they are not checked. */
function isPage(answer: unknown): answer is HistoryPage {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'items' in answer &&
    Array.isArray(answer.items) &&
    'next' in answer &&
    typeof answer.next === 'string' &&
    'missing' in answer &&
    Array.isArray(answer.missing)
  )
}

function isChanges(answer: unknown): answer is AnswerOf<typeof getRecordedChanges> {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'data' in answer &&
    typeof answer.data === 'object' &&
    'kept' in answer &&
    typeof answer.kept === 'boolean'
  )
}
