/**
 * Filters a tar archive: leaves out devices, pipes, and files with a secret in their name or, up to 1 MiB, in their content. The archive was written
 * in a sandbox, so nothing in it is trusted.
 */
import { setImmediate } from 'node:timers/promises'
import { formsOf } from '#platform/redaction/secretForms.ts'

/** Why a setup's result cannot be kept, as a sentence for the person. */
export class NotKept extends Error {
  override readonly name = 'NotKept'
}

export interface SecretSearch {
  /** Whether the content contains one of the secrets, plain or encoded. Throws `NotKept` once too much was searched. */
  holdsSecret(content: Buffer): boolean
}

/** The contents of files with more bytes are not searched for secrets. Programs that write a password into a file write small files. */
const longestSearched = 1024 ** 2
/**
 * The limit on searching the archives of one setup: the number of searched bytes times the number of forms of the secrets. A search up to this limit
 * takes about half a minute.
 */
const mostCompared = 40 * 1024 ** 3

export function searchFor(secrets: readonly string[]): SecretSearch {
  const forms = formsOf(secrets).map((form) => Buffer.from(form))
  let compared = 0
  return {
    holdsSecret(content) {
      compared += content.length * forms.length
      if (compared > mostCompared)
        throw new NotKept('There are too many files to search all of them for the secrets of this project.')
      return forms.some((form) => content.includes(form))
    },
  }
}

const blockBytes = 512
/** A name that is too long for a header has an entry of its own, of at most this many bytes. */
const longestName = 64 * 1024

/**
 * Yields the archive without the entries that must not be kept. Calls `leftOut` for each file with a secret, with a name that does not contain the
 * secret. Throws `NotKept` for a damaged archive, or when there is too much to search.
 */
export async function* filteredArchive(
  archive: AsyncIterable<Buffer>,
  { holdsSecret }: SecretSearch,
  leftOut: (name: string) => void,
): AsyncGenerator<Buffer> {
  const reader = readerOf(archive)
  /** The blocks with the long name or link target of the entry that follows. */
  let before: Buffer[] = []
  let longName: string | undefined
  let passed = 0
  for (;;) {
    const header = await reader.take(blockBytes)
    // An empty block marks the end of an archive. If there was nothing to pack, the archive has no blocks at all.
    if (header === undefined || header.every((byte) => byte === 0)) break
    const size = sizeIn(header)
    const padded = Math.ceil(size / blockBytes) * blockBytes
    const type = String.fromCharCode(header[typeAt] ?? 0)
    if (type === 'L' || type === 'K') {
      const name = padded <= longestName ? await reader.take(padded) : undefined
      if (!name) throw damaged()
      before.push(header, name)
      if (type === 'L') longName = textIn(name.subarray(0, size))
      continue
    }
    const entry = [...before, header]
    // Names of files that are left out are recorded, so a name with a secret is replaced.
    const isSecret = kept.has(type) && entry.some((part) => holdsSecret(part))
    const name = isSecret ? unnamed : (longName ?? textIn(header.subarray(0, 100)))
    before = []
    longName = undefined
    if (padded <= longestSearched) {
      const content = padded === 0 ? Buffer.alloc(0) : await reader.take(padded)
      if (!content) throw damaged()
      passed += padded
      if (isSecret || (kept.has(type) && holdsSecret(content.subarray(0, size)))) leftOut(name)
      else if (kept.has(type)) yield* [...entry, content]
      // Lets other work of this thread go on after each MiB.
      if (passed > longestSearched) passed = await setImmediate(0)
    } else {
      if (!kept.has(type)) throw damaged()
      if (isSecret) leftOut(name)
      else yield* entry
      for await (const piece of reader.pass(padded)) if (!isSecret) yield piece
    }
  }
  yield Buffer.alloc(2 * blockBytes)
  await reader.drain()
}

/** Names a file with a secret in its name or in the target of its link, without repeating the secret. */
const unnamed = 'a file with a secret in its name'

const typeAt = 156
/** The types of entries that are kept: files, links and folders. */
const kept = new Set(['0', '\0', '1', '2', '5'])

const damaged = () => new NotKept('The files that the setup left could not be packed.')

function sizeIn(header: Buffer): number {
  const written = textIn(header.subarray(124, 136)).trim()
  // Sizes of 8 GiB and more are written in another way, and no file of a sandbox can be that large.
  if (!/^[0-7]{1,11}$/.test(written)) throw damaged()
  return parseInt(written, 8)
}

function textIn(field: Buffer): string {
  const end = field.indexOf(0)
  return field.subarray(0, end === -1 ? field.length : end).toString('utf8')
}

/** Reads exact numbers of bytes from pieces of any length. */
function readerOf(source: AsyncIterable<Buffer>) {
  const pieces = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)

  async function more(): Promise<boolean> {
    const next = await pieces.next()
    if (next.done === true) return false
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value])
    return true
  }
  return {
    /** Returns the next `bytes` bytes; `undefined` when fewer are left. */
    async take(bytes: number): Promise<Buffer | undefined> {
      while (held.length < bytes) if (!(await more())) return undefined
      const taken = held.subarray(0, bytes)
      held = held.subarray(bytes)
      return taken
    },
    async *pass(bytes: number): AsyncGenerator<Buffer> {
      for (let left = bytes; left > 0;) {
        if (held.length === 0 && !(await more())) throw damaged()
        const piece = held.subarray(0, left)
        held = held.subarray(piece.length)
        left -= piece.length
        yield piece
      }
    },
    async drain(): Promise<void> {
      do held = Buffer.alloc(0)
      while (await more())
    },
  }
}
