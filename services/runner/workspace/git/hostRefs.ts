/**
 * Requests the branches and tags of a repository from its host, by gitprotocol-v2(5) over HTTP. Usually nothing is new, and an agent waits for the
 * answer. git itself would need two processes and another round trip for it.
 */

import type { Refs } from './refs.ts'

export interface HostRefsRequest {
  readonly url: string
  /** The value of the `Authorization` header; absent for a public repository. */
  readonly authorization?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const timeoutMs = 10_000
const maxBytes = 16 * 1024 * 1024
const prefixes = ['refs/heads/', 'refs/tags/']

/**
 * Requests refs by full name. `limited` when the host asks us to wait; `undefined` when it fails for any other reason: git is then used, and reports
 * the reason.
 */
export async function hostRefs({
  url,
  authorization,
  signal,
}: HostRefsRequest): Promise<Refs | 'limited' | undefined> {
  if (!/^https?:\/\//.test(url)) return undefined
  const late = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(`${url}/git-upload-pack`, {
      method: 'POST',
      redirect: 'error',
      headers: {
        accept: 'application/x-git-upload-pack-result',
        'content-type': 'application/x-git-upload-pack-request',
        'git-protocol': 'version=2',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: [
        packet('command=ls-refs\n'),
        delimiter,
        ...prefixes.map((prefix) => packet(`ref-prefix ${prefix}\n`)),
        end,
      ].join(''),
      signal: signal ? AbortSignal.any([signal, late]) : late,
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      return response.status === 429 ? 'limited' : undefined
    }
    return refsIn(await bytesOf(response))
  } catch {
    return undefined
  }
}

const end = '0000'
const delimiter = '0001'

/** A line in the form of gitprotocol-common(5): preceded by its own length in four hexadecimal digits. */
function packet(line: string): string {
  return `${(line.length + 4).toString(16).padStart(4, '0')}${line}`
}

/** Parses the refs of an answer; `undefined` when the answer is malformed or incomplete. */
export function refsIn(answer: Buffer): Refs | undefined {
  const refs = new Map<string, string>()
  for (let at = 0; at + 4 <= answer.length;) {
    const digits = answer.toString('latin1', at, at + 4)
    if (digits === end) return at + 4 === answer.length ? refs : undefined
    const length = /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : 0
    if (length < 5 || at + length > answer.length) return undefined
    const line = /^([0-9a-f]{40}) (refs\/[^ \n]+)\n?$/.exec(answer.toString('utf8', at + 4, at + length))
    if (!line?.[1] || !line[2]) return undefined
    refs.set(line[2], line[1])
    at += length
  }
  return undefined
}

async function bytesOf(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new RangeError('the host names more refs than are read')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
