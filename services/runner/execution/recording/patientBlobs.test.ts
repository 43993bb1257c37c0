/** What a run leaves is stored also when the blobs are unavailable for a moment. */
import { expect, test } from 'vitest'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { patientBlobs } from './patientBlobs.ts'

const unused = (): never => {
  throw new Error('This is not used here.')
}
const blobsThat = (put: SealedBlobs['put']) =>
  patientBlobs({ put, get: unused, stateOf: unused, check: unused, remove: unused, list: unused })

test('a blob is put again while the engine is unavailable', async () => {
  let puts = 0
  const blobs = blobsThat(async (_scope, { byteLength: size }) => {
    puts += 1
    if (puts === 1) throw new EngineUnavailable('MongoDB')
    return { hash: 'a'.repeat(64), size }
  })
  expect(await blobs.put('task:1', Buffer.from('diff'))).toEqual({ hash: 'a'.repeat(64), size: 4 })
  expect(puts).toBe(2)
})

test('another fault is thrown at once', async () => {
  const blobs = blobsThat(() => Promise.reject(new RangeError('as the test wants it')))
  await expect(blobs.put('task:1', Buffer.from('diff'))).rejects.toThrow(RangeError)
})
