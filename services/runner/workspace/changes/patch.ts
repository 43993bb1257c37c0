/** Parses the output of `git diff -z --raw --numstat -p` as it arrives, within limits. Has no side effects. */

export type ChangeKind = 'added' | 'modified' | 'deleted' | 'renamed'

/** The diff of one file. Paths are bytes, because a file's name need not be text. */
export interface FileDiff {
  readonly kind: ChangeKind
  readonly path: Buffer
  readonly previousPath: Buffer | undefined
  /** The number of added lines; 0 for a binary file. */
  readonly additions: number
  /** The number of deleted lines; 0 for a binary file. */
  readonly deletions: number
  readonly binary: boolean
  /** The file's part of the unified diff, from its `diff --git` line on. It has only whole lines. */
  readonly patch: Buffer
  /** Whether the patch was cut or left out because of its length. */
  readonly cut: boolean
}

export interface DiffLimits {
  readonly files: number
  readonly fileBytes: number
  readonly totalBytes: number
}

export interface DiffReader {
  /** Parses a chunk. `enough`: nothing of later chunks would be kept. */
  push(chunk: Buffer): 'more' | 'enough'
  /** Returns the result. `total` counts all changed files, kept or not. */
  end(): { readonly files: readonly FileDiff[]; readonly total: number }
}

/** Thrown when git's output is not in the expected format. No repository can cause that. */
export class UnreadableDiff extends Error {
  override readonly name = 'UnreadableDiff'
}

export function readDiff(limits: DiffLimits): DiffReader {
  const summary = readSummary(limits.files)
  const sections = readSections(limits)
  return {
    push(chunk) {
      const patch = summary.push(chunk)
      return patch === undefined ? 'more' : sections.push(patch, summary.changes.length)
    },
    end() {
      const found = sections.end()
      let next = 0
      const files = summary.changes.map((change): FileDiff => {
        // A file that changed back while git ran has no section; a file that changed its type has two.
        const title = sectionTitle(change.previousPath ?? change.path, change.path)
        const isNext = (at: number): boolean => found[at]?.title.equals(title) ?? false
        const first = next
        while (isNext(next)) next += 1
        const own = found.slice(first, next)
        const count = summary.counts.get(change.path.toString('latin1')) ?? noCount
        const hasContent = count.binary || count.additions + count.deletions > 0
        return {
          ...change,
          ...count,
          patch: Buffer.concat(own.map(({ patch }) => patch)),
          cut: own.some(({ cut }) => cut) || (own.length === 0 && hasContent),
        }
      })
      return { files, total: summary.total() }
    },
  }
}

interface Change {
  readonly kind: ChangeKind
  readonly path: Buffer
  readonly previousPath: Buffer | undefined
}

interface Count {
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
}

const noCount: Count = { additions: 0, deletions: 0, binary: false }

/** Parses the records that git prints before the patch. Each field ends with NUL; an empty field ends the records. */
function readSummary(maxFiles: number) {
  const changes: Change[] = []
  const counts = new Map<string, Count>()
  let total = 0
  let ended = false
  let pending: Buffer = Buffer.alloc(0)
  let record: Buffer[] = []

  const take = (field: Buffer): void => {
    record.push(field)
    const head = record[0] ?? field
    if (head.length === 0) {
      ended = true
      return
    }
    const isRaw = head[0] === colon
    const text = head.toString('latin1')
    const status = isRaw ? text.slice(text.lastIndexOf(' ') + 1) : ''
    const numbers = isRaw ? undefined : /^(\d+|-)\t(\d+|-)\t/.exec(text)
    if (!isRaw && !numbers) throw new UnreadableDiff('a record of git diff is of no known kind')
    const isRename = isRaw ? /^[RC]/.test(status) : text.length === numbers?.[0].length
    const fields = (isRaw ? 2 : 1) + (isRename ? (isRaw ? 1 : 2) : 0)
    if (record.length < fields) return

    const path = numbers && !isRename ? head.subarray(numbers[0].length) : (record.at(-1) ?? field)
    if (numbers) {
      const [additions, deletions] = [Number(numbers[1]), Number(numbers[2])]
      const binary = numbers[1] === '-'
      if (counts.size < maxFiles)
        counts.set(
          path.toString('latin1'),
          binary ? { ...noCount, binary } : { additions, deletions, binary },
        )
    } else {
      total += 1
      const kind = changeKinds[status.charAt(0)] ?? 'modified'
      const previousPath = kind === 'renamed' ? record.at(-2) : undefined
      if (changes.length < maxFiles) changes.push({ kind, path, previousPath })
    }
    record = []
  }

  return {
    changes,
    counts,
    total: () => total,
    /** Returns the part of the chunk that belongs to the patch; `undefined` before the patch begins. */
    push(chunk: Buffer): Buffer | undefined {
      if (ended) return chunk
      const bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      let start = 0
      for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
        take(bytes.subarray(start, end))
        start = end + 1
        if (ended) break
      }
      pending = ended ? Buffer.alloc(0) : bytes.subarray(start)
      return ended ? bytes.subarray(start) : undefined
    },
  }
}

interface Section {
  /** The first line of the section. */
  readonly title: Buffer
  readonly patch: Buffer
  readonly cut: boolean
}

/** Splits the patch at lines that begin with `diff --git `. No line of a file's content does, because each has a sign in front. */
function readSections({ fileBytes, totalBytes }: DiffLimits) {
  const sections: Section[] = []
  let parts: Buffer[] | undefined
  let size = 0
  let kept = 0
  let isCut = false
  // An artificial line end, so that the first section begins like the others.
  let carry: Buffer = Buffer.from('\n')

  const close = (): void => {
    if (!parts) return
    const bytes = Buffer.concat(parts)
    const patch = isCut ? bytes.subarray(0, bytes.lastIndexOf('\n') + 1) : bytes
    const titleEnd = bytes.indexOf('\n')
    sections.push({ title: titleEnd === -1 ? bytes : bytes.subarray(0, titleEnd), patch, cut: isCut })
    parts = undefined
  }
  const add = (bytes: Buffer): void => {
    if (!parts || bytes.length === 0) return
    const room = Math.max(0, Math.min(fileBytes - size, totalBytes - kept))
    if (bytes.length > room) isCut = true
    const taken = bytes.subarray(0, room)
    parts.push(Buffer.from(taken))
    size += taken.length
    kept += taken.length
  }

  return {
    push(chunk: Buffer, maxFiles: number): 'more' | 'enough' {
      const bytes = Buffer.concat([carry, chunk])
      let start = 0
      for (let at = bytes.indexOf(sectionMark); at !== -1; at = bytes.indexOf(sectionMark, at + 1)) {
        add(bytes.subarray(start, at + 1))
        close()
        parts = []
        size = 0
        isCut = false
        start = at + 1
      }
      // The beginning of a section may be split over two chunks.
      const sure = Math.max(start, bytes.length - sectionMark.length + 1)
      add(bytes.subarray(start, sure))
      carry = Buffer.from(bytes.subarray(sure))
      // A file that changed its type has two sections.
      return kept >= totalBytes || sections.length >= 2 * maxFiles ? 'enough' : 'more'
    },
    end(): readonly Section[] {
      add(carry)
      close()
      return sections
    },
  }
}

function sectionTitle(from: Buffer, to: Buffer): Buffer {
  return Buffer.concat([Buffer.from('diff --git '), quoted('a/', from), Buffer.from(' '), quoted('b/', to)])
}

/** A path as git writes it in a patch, with `core.quotePath=false`. */
function quoted(prefix: string, path: Buffer): Buffer {
  const isPlain = path.every((byte) => byte >= 0x20 && byte !== 0x7f && byte !== 0x22 && byte !== 0x5c)
  if (isPlain) return Buffer.concat([Buffer.from(prefix), path])
  const escaped = Array.from(path, (byte) => {
    const short = shortEscapes[byte]
    if (short !== undefined) return Buffer.from(short)
    const isControl = byte < 0x20 || byte === 0x7f
    return isControl ? Buffer.from(`\\${byte.toString(8).padStart(3, '0')}`) : Buffer.of(byte)
  })
  return Buffer.concat([Buffer.from(`"${prefix}`), ...escaped, Buffer.from('"')])
}

const shortEscapes: Readonly<Record<number, string>> = {
  0x07: '\\a',
  0x08: '\\b',
  0x09: '\\t',
  0x0a: '\\n',
  0x0b: '\\v',
  0x0c: '\\f',
  0x0d: '\\r',
  0x22: '\\"',
  0x5c: '\\\\',
}

const changeKinds: Readonly<Record<string, ChangeKind>> = { A: 'added', D: 'deleted', R: 'renamed' }
const colon = 0x3a
const sectionMark = Buffer.from('\ndiff --git ')
