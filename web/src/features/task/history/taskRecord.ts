/** The state of a task's record: the call that reads it, and its description in words. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { historyRoutes } from '#domain/api/history.ts'
import type { getTaskRecord } from '#domain/api/history.schema.ts'
import { api } from '../../../api/api.ts'
import { ofTask } from '../taskCall.ts'
import { recordTexts, recordTexts as texts } from './recordTexts.ts'
import { lasting } from '../../../ui/text/dates.ts'

export type TaskRecord = AnswerOf<typeof getTaskRecord>

export const { useTaskRecordQuery } = api.injectEndpoints({
  endpoints: (build) => ({
    taskRecord: build.query<TaskRecord, string>({
      query: ofTask<typeof getTaskRecord>(historyRoutes.getTaskRecord, recordTexts.notFetched),
    }),
  }),
})

/** How many characters of a key's fingerprint are shown: the first two groups. */
const keyPrefixLength = 9

export interface RecordDescription {
  readonly state: 'unknown' | 'good' | 'waiting' | 'off' | 'damaged'
  /** The parts of the description, the most important first. */
  readonly words: readonly string[]
}

/** `failure` is the reason why the newest state is unknown; the last known state is then shown as outdated. `now` is in milliseconds since 1970. */
export function describeRecord(
  record: TaskRecord | null,
  failure: string | null,
  now: number,
): RecordDescription {
  if (record === null) return { state: 'unknown', words: [failure ?? texts.reading] }
  const { damage, checked, events, seal, isSealing, key } = record
  const old = failure === null ? [] : [texts.lastKnown]
  if (damage !== null)
    return { state: 'damaged', words: [texts.damaged(damage.stream, damage.revision), ...old] }
  const verified = checked.events >= events ? texts.verified : texts.checkedSoFar(checked.events, events)
  const signed = key === null ? [] : [texts.key(key.slice(0, keyPrefixLength))]
  if (seal === null)
    return {
      state: isSealing ? 'waiting' : 'off',
      words: [isSealing ? texts.notSealed : texts.off, verified, ...old],
    }
  const age = texts.sealed(lasting(Math.max(0, now - Date.parse(seal.at))))
  if (seal.events >= events)
    return { state: checked.events >= events ? 'good' : 'waiting', words: [age, verified, ...signed, ...old] }
  const open = texts.notSealedYet(events - seal.events)
  return {
    state: isSealing ? 'waiting' : 'off',
    words: [open, ...(isSealing ? [] : [texts.off]), verified, ...signed, ...old],
  }
}
