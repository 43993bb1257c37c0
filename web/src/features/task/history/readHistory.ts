/** Reads a task's history from the server, outside of the store. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { chatRoutes } from '#domain/api/chat.ts'
import type { getTaskImages } from '#domain/api/chat.schema.ts'
import { historyRoutes } from '#domain/api/history.ts'
import type { getRecordedChanges, getTaskHistory } from '#domain/api/history.schema.ts'
import type { ShownImage } from '#domain/api/images.schema.ts'
import type { GitDiff } from '#domain/api/tasks.schema.ts'
import type { HistoryItem, TaskEventItem } from '#domain/history/item.ts'
import { separated, type JoinedItem } from '#domain/history/joined.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { isRecord, readUncached } from '../readUncached.ts'
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
type RecordedImage = Pick<ShownImage, 'id' | 'url'> & { readonly type: string }

/** A source of a history: the server, or an exported file. */
export interface HistorySource {
  /** Reads the page after a cursor; resolves to the reason when it cannot be read. With `to`, the server records that the history is being saved. */
  page(
    after: string | undefined,
    signal: AbortSignal,
    to?: 'replay',
  ): Promise<HistoryPage | { readonly reason: string }>
  /** Reads the changes that were recorded at a revision of the task's stream; resolves to the reason when they cannot be read. */
  changes(revision: number): Promise<RecordedChanges | { readonly reason: string }>
  /** Reads the images of the task, of its messages and of its tool calls; none when they cannot be read. */
  images(signal: AbortSignal): Promise<readonly RecordedImage[]>
  /** Reads the bytes at an address; `null` when they cannot be read. */
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
        query: { after, export: to, pieces: 'joined' },
        fallback: texts.notFetched,
      })
      const answer = await readUncached(call, signal)
      if ('reason' in answer) return answer
      const { data } = answer
      return isPage(data) ? { ...data, items: separated(data.joined) } : { reason: texts.notFetched }
    },
    async changes(revision) {
      const call = requestOf<typeof getRecordedChanges>(historyRoutes.getRecordedChanges, {
        params: { taskId },
        query: { revision },
        fallback: texts.changesNotFetched,
      })
      const answer = await readUncached(call, new AbortController().signal)
      if ('reason' in answer) return answer
      const { data } = answer
      return isChanges(data) ? { diff: data.data, kept: data.kept } : { reason: texts.changesNotFetched }
    },
    async images(signal) {
      const call = requestOf<typeof getTaskImages>(chatRoutes.getTaskImages, {
        params: { taskId },
        fallback: texts.notFetched,
      })
      const answer = await readUncached(call, signal)
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

function imagesIn(answer: unknown): readonly ShownImage[] {
  const images = isRecord(answer) ? answer['images'] : []
  return Array.isArray(images) ? images : []
}

interface JoinedPage extends Omit<HistoryPage, 'items'> {
  readonly joined: readonly (TaskEventItem | JoinedItem)[]
}

/** Whether the answer is a page. The events in it come from our server and are folded like live events, so they are not checked. */
function isPage(answer: unknown): answer is JoinedPage {
  return (
    isRecord(answer) &&
    Array.isArray(answer['joined']) &&
    typeof answer['next'] === 'string' &&
    Array.isArray(answer['missing'])
  )
}

function isChanges(answer: unknown): answer is AnswerOf<typeof getRecordedChanges> {
  return isRecord(answer) && typeof answer['data'] === 'object' && typeof answer['kept'] === 'boolean'
}
