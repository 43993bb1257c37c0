/** Limits on uploads: how many may be under way at once, in all and of one person, and how many images are decoded at once. */
import { Fault } from '#domain/kernel/errors.ts'
import { limitConcurrency } from '#platform/async/queue.ts'

export interface UploadLimits {
  /** Does the work as one more upload of the person; throws `rate_limited` when there are too many. */
  upload<T>(userId: string, work: () => Promise<T>): Promise<T>
  decode<T>(work: () => Promise<T>): Promise<T>
}

/** Each upload holds a whole file in memory, 10 MB at most: this bounds what waits to be decoded, too. */
const underWay = { ofAll: 20, ofOnePerson: 5 }
const decodedAtOnce = 2
const retryAfterSeconds = 5

export function uploadLimits(most = { ...underWay, decodedAtOnce }): UploadLimits {
  const entered = new Map<string, number>()
  let all = 0

  return {
    async upload(userId, work) {
      const own = entered.get(userId) ?? 0
      if (all >= most.ofAll || own >= most.ofOnePerson) {
        const sentence = 'Too many images are being uploaded. Wait a moment.'
        throw new Fault('rate_limited', sentence, undefined, { retryAfterSeconds })
      }
      all += 1
      entered.set(userId, own + 1)
      try {
        return await work()
      } finally {
        all -= 1
        const left = (entered.get(userId) ?? 1) - 1
        if (left === 0) entered.delete(userId)
        else entered.set(userId, left)
      }
    },
    decode: limitConcurrency(most.decodedAtOnce),
  }
}
