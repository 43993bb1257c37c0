/** Sends a file as a form, telling how far it is: `fetch` cannot. Throws nothing. */
import { callTimeoutMs } from '../../api/callTimeout.ts'
import { answerOf, type ApiAnswer } from '../../api/request.ts'

export interface FileCall {
  /** Below `/api`. */
  readonly path: string
  readonly field: string
  readonly file: File
  /** By which the server keeps it once, however often it arrives. */
  readonly key: string
  /** Said where the server gives no reason. */
  readonly fallback: string
  /** Percent of the bytes that have left, 0 to 100. */
  readonly onProgress: (percent: number) => void
}

export function sendFile(call: FileCall, token: string, signal: AbortSignal): Promise<ApiAnswer> {
  const { path, field, file, key, fallback, onProgress } = call
  const xhr = new XMLHttpRequest()
  return new Promise<ApiAnswer>((resolve) => {
    const failed = (code: string) => () =>
      resolve({ error: { status: null, code, message: fallback, field: null } })
    xhr.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(Math.round((loaded / total) * 100))
    })
    xhr.addEventListener('load', () => resolve(answerOf(xhr.status, xhr.responseText, fallback)))
    xhr.addEventListener('error', failed('offline'))
    xhr.addEventListener('timeout', failed('timeout'))
    xhr.addEventListener('abort', failed('aborted'))
    signal.addEventListener('abort', () => xhr.abort())
    xhr.open('POST', `/api${path}`)
    xhr.timeout = callTimeoutMs
    xhr.setRequestHeader('accept', 'application/json')
    xhr.setRequestHeader('authorization', `Bearer ${token}`)
    xhr.setRequestHeader('idempotency-key', key)
    const form = new FormData()
    form.set(field, file)
    xhr.send(form)
  })
}
