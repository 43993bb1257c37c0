/** Blobs for recording runs. */
import { retryWhileUnavailable } from '#platform/eventlog/eventLog.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { recordingPatienceMs } from './terminalWriter.ts'

/** The same blobs, but `put` waits while they are unavailable, as recording does: what a run leaves is stored only once. */
export function patientBlobs(blobs: SealedBlobs): SealedBlobs {
  return {
    ...blobs,
    put: (scope, bytes) =>
      retryWhileUnavailable(() => blobs.put(scope, bytes), { patienceMs: recordingPatienceMs }),
  }
}
