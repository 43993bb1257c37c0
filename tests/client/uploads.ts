/** Uploads in a test of the client: each upload waits until the test decides how it goes on. */
import { onTestFinished, vi } from 'vitest'

export interface Upload {
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly form: FormData
  readonly broken: boolean
  /** This many of a hundred bytes were sent. */
  progress(percent: number): void
  answer(status: number, body: unknown): void
  /** The connection fails without an answer. */
  fail(): void
}

/** Replaces `XMLHttpRequest`, and object URLs, until the test is finished. */
export function fakeUploads(): {
  readonly made: readonly Upload[]
  /** Object URLs that were created and not revoked. */
  readonly held: ReadonlySet<string>
} {
  const made: Upload[] = []
  const held = new Set<string>()

  class Sending extends EventTarget {
    readonly upload = new EventTarget()
    status = 0
    responseText = ''
    timeout = 0
    #address = ''
    #headers: Record<string, string> = {}
    #broken = false
    open(_method: string, address: string): void {
      this.#address = address
    }
    setRequestHeader(name: string, value: string): void {
      this.#headers[name] = value
    }
    abort(): void {
      this.#broken = true
      this.dispatchEvent(new Event('abort'))
    }
    send(form: FormData): void {
      const broken = () => this.#broken
      made.push({
        address: this.#address,
        headers: this.#headers,
        form,
        get broken() {
          return broken()
        },
        progress: (loaded) =>
          void this.upload.dispatchEvent(
            new ProgressEvent('progress', { lengthComputable: true, loaded, total: 100 }),
          ),
        answer: (status, body) => {
          this.status = status
          this.responseText = JSON.stringify(body)
          this.dispatchEvent(new Event('load'))
        },
        fail: () => void this.dispatchEvent(new Event('error')),
      })
    }
  }
  vi.stubGlobal('XMLHttpRequest', Sending)
  let count = 0
  const url = { create: URL.createObjectURL, revoke: URL.revokeObjectURL }
  URL.createObjectURL = () => {
    count += 1
    held.add(`blob:${count}`)
    return `blob:${count}`
  }
  URL.revokeObjectURL = (address) => void held.delete(address)
  onTestFinished(() => {
    vi.unstubAllGlobals()
    Object.assign(URL, { createObjectURL: url.create, revokeObjectURL: url.revoke })
  })
  return { made, held }
}

/** The server's answer to an upload. */
export function uploadedOf(id: string, name: string) {
  const image = { id, url: `/api/images/${id}?grant=1`, name, size: 1_234, type: 'image/png' }
  return { ...image, position: '3', stale: false }
}
