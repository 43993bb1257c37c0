/** A request to check a file, as it is sent to the worker of `verifierWorker.ts`. */
export interface ToCheck {
  readonly file: File
  /** The keys that the reader trusts, each as a fingerprint or as a whole key in text form. */
  readonly keys: readonly string[]
}

export type Checked =
  | {
      readonly kind: 'checked'
      readonly verdict: 'whole' | 'intact' | 'not_whole' | 'unknown_key' | 'newer_format' | 'older_format'
      /** The first faults that were found, as sentences. */
      readonly faults: readonly string[]
      readonly taskId: string | null
      readonly events: number
      /** The fingerprint of the key that signed; `null` if none did. */
      readonly fingerprint: string | null
      readonly withheld: number
      readonly erased: number
    }
  | {
      readonly kind: 'failed'
      readonly why: 'no_text' | 'no_signatures' | 'unreadable' | 'too_large' | 'too_long' | 'not_loaded'
    }

const maxBytes = 256_000_000
const checkTimeoutMs = 300_000

/** Checks a file in a worker. Never rejects; when `signal` is aborted, or after `checkTimeoutMs`, the result is `too_long`. */
export function checkFile(request: ToCheck, signal: AbortSignal): Promise<Checked> {
  if (request.file.size > maxBytes) return Promise.resolve({ kind: 'failed', why: 'too_large' })
  const worker = new Worker(new URL('./verifierWorker.ts', import.meta.url), { type: 'module' })
  return new Promise<Checked>((resolve) => {
    const fail = (why: Extract<Checked, { kind: 'failed' }>['why']) => resolve({ kind: 'failed', why })
    worker.addEventListener('message', ({ data }: MessageEvent<Checked>) => resolve(data))
    worker.addEventListener('error', () => fail('not_loaded'))
    signal.addEventListener('abort', () => fail('too_long'))
    setTimeout(() => fail('too_long'), checkTimeoutMs)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no other origin
    worker.postMessage(request)
  }).finally(() => worker.terminate())
}
