/** Parses the diffs in an answer of the server, once for each answer. Pure. */
import type { ChangedFile } from '#domain/api/tasks.schema.ts'
import { hasHidden } from '#domain/kernel/hiddenCharacters.ts'
import { type Hunk, parseDiff } from './parseDiff.ts'
import { texts } from '../texts.ts'

export interface DiffFile {
  readonly name: string
  readonly file: ChangedFile
  /** A hash of the name and the changes, by which a viewed file is remembered. When the file changes again, its hash changes too. */
  readonly hash: string
  readonly hunks: readonly Hunk[]
  readonly facts: FileFacts
  readonly lines: number
  readonly isLarge: boolean
  /** How many changed lines are shown as unchanged, or left out, because only their whitespace differs. */
  readonly hidden: number
}

/**
 * If other files changed too, a file with more rows than this is shown only on request. A file that is the only changed one has the limit
 * `largeAlone`.
 */
const largeBesideOthers = 4_000
const largeAlone = 20_000
/** In a diff with more rows than this, files with more than `largeInMany` rows are shown only on request. */
const manyLines = 40_000
const largeInMany = 800
/** No person writes a line of more characters than this. A file with such a line is shown only on request. */
const maxWrittenLength = 20_000

export function readDiffs(files: readonly ChangedFile[]): readonly DiffFile[] {
  const read = files.map((file): DiffFile => {
    const hunks = parseDiff(file.diff)
    return {
      name: file.fileName,
      file,
      hash: contentHash(`${file.fileName}\n${file.diff}`),
      hunks,
      facts: fileFacts(file, hunks.length),
      lines: hunks.reduce((sum, { lines }) => sum + lines.length, 0),
      isLarge: false,
      hidden: 0,
    }
  })
  read.sort(inTreeOrder)
  const total = read.reduce((sum, { lines }) => sum + lines, 0)
  const maxRows = total > manyLines ? largeInMany : read.length > 1 ? largeBesideOthers : largeAlone
  return read.map((each) => ({ ...each, isLarge: each.lines > maxRows || isUnwritten(each) }))
}

/** Compares files by the order of the tree: by folder, then by name. */
function inTreeOrder(one: Pick<DiffFile, 'name'>, other: Pick<DiffFile, 'name'>): number {
  const [a, b] = [splitName(one.name), splitName(other.name)]
  if (a.folder !== b.folder) return a.folder < b.folder ? -1 : 1
  return a.name < b.name ? -1 : 1
}

/** Splits a path into its folder (`src/webhooks/`) and name (`deliver.ts`); the folder is empty at the top level. */
export function splitName(fileName: string): { readonly folder: string; readonly name: string } {
  const cut = fileName.lastIndexOf('/') + 1
  return { folder: fileName.slice(0, cut), name: fileName.slice(cut) }
}

/** Whether two answers show the same changes. If they differ, `CodeChanges.tsx` keeps the changes that a person is reading. */
export function sameChanges(one: readonly ChangedFile[], other: readonly ChangedFile[]): boolean {
  return (
    one.length === other.length &&
    one.every((file, index) => {
      const beside = other[index]
      return (
        beside !== undefined &&
        file.fileName === beside.fileName &&
        file.status === beside.status &&
        file.diff === beside.diff
      )
    })
  )
}

function isUnwritten({ file, hunks }: DiffFile): boolean {
  return (
    file.diff.length > maxWrittenLength &&
    hunks.some(({ lines }) => lines.some(({ text }) => text.length > maxWrittenLength))
  )
}

/** A hash of 53 bits in base 36. It tells changes apart, and is not meant for security. */
function contentHash(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 2_654_435_761)
    low = Math.imul(low ^ code, 1_597_334_677)
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  return (4_294_967_296 * (2_097_151 & low) + (high >>> 0)).toString(36)
}

interface FileFacts {
  /** Sentences for the person, the most important first. */
  readonly notes: readonly string[]
  /** Whether there is an old version of the file, from which lines around the changes can be loaded. */
  readonly hasBefore: boolean
  readonly isCut: boolean
}

const submodule = '160000'
const link = '120000'

/** The facts about a file that its diff states besides the changed lines. Pure. */
export function fileFacts(file: ChangedFile, hunks: number): FileFacts {
  const { diff, binary, status } = file
  const firstHunk = diff.indexOf('\n@@ ')
  const head = firstHunk === -1 ? diff : diff.slice(0, firstHunk)
  const word = (pattern: RegExp) => pattern.exec(head)?.[1]
  const before = word(/^(?:old mode|deleted file mode) (\d+)$/m)
  const after = word(/^(?:new mode|new file mode) (\d+)$/m)
  const mode = before ?? after ?? word(/^index [0-9a-f]+\.\.[0-9a-f]+ (\d+)$/m)
  const serverNote = serverNoteIn(diff)
  const notes: string[] = []
  if (mode === submodule) notes.push(texts.submodule)
  else if (mode === link) notes.push(texts.link)
  if (before !== undefined && after !== undefined) notes.push(modeNote(before, after))
  if (serverNote !== null) notes.push(serverNote)
  else if (binary) notes.push(texts.binary)
  else if (hunks === 0 && status === 'renamed') notes.push(texts.onlyRenamed)
  else if (hunks === 0 && after !== undefined && before === undefined) notes.push(texts.emptyFile)
  if (notes.length === 0 && hunks === 0) notes.push(texts.noDiff)
  if (hasHidden(file.fileName) || hasHidden(diff)) notes.unshift(texts.hiddenCharacters)
  const name = word(/^index ([0-9a-f]+)\.\./m)
  return {
    notes,
    hasBefore: hunks > 0 && name !== undefined && !/^0+$/.test(name) && mode !== submodule,
    isCut: serverNote !== null,
  }
}

function modeNote(before: string, after: string): string {
  if (before === '100644' && after === '100755') return texts.becameExecutable
  if (before === '100755' && after === '100644') return texts.noLongerExecutable
  return texts.modeChanged(before, after)
}

/** The text after the backslash in the last row: the server adds such a row when it cut the diff or did not make one. */
function serverNoteIn(diff: string): string | null {
  const last = diff.slice(diff.lastIndexOf('\n', diff.length - 2) + 1).trimEnd()
  return last.startsWith('\\ ') && !last.startsWith('\\ No newline') ? last.slice(2) : null
}
