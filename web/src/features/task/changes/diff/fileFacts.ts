/** What a diff says about a file besides its lines. Pure. */
import type { ChangedFile } from '#domain/api/tasks.schema.ts'
import { hasHidden } from '#domain/kernel/hiddenCharacters.ts'
import { texts } from '../texts.ts'

export interface FileFacts {
  /** Sentences for the reader, the most important first. */
  readonly notes: readonly string[]
  /** Whether the file had text before, so that lines around the changes can be loaded. */
  readonly hasBefore: boolean
  readonly isCut: boolean
}

const submodule = '160000'
const link = '120000'

export function fileFacts(file: ChangedFile, hunks: number): FileFacts {
  const { diff, binary, status } = file
  const firstHunk = diff.indexOf('\n@@ ')
  const head = firstHunk === -1 ? diff : diff.slice(0, firstHunk)
  const word = (pattern: RegExp) => pattern.exec(head)?.[1]
  const before = word(/^(?:old mode|deleted file mode) (\d+)$/m)
  const after = word(/^(?:new mode|new file mode) (\d+)$/m)
  const mode = before ?? after ?? word(/^index [0-9a-f]+\.\.[0-9a-f]+ (\d+)$/m)
  const said = serversWord(diff)
  const notes: string[] = []
  if (mode === submodule) notes.push(texts.submodule)
  else if (mode === link) notes.push(texts.link)
  if (before !== undefined && after !== undefined) notes.push(modeNote(before, after))
  if (said !== null) notes.push(said)
  else if (binary) notes.push(texts.binary)
  else if (hunks === 0 && status === 'renamed') notes.push(texts.onlyRenamed)
  else if (hunks === 0 && after !== undefined && before === undefined) notes.push(texts.emptyFile)
  if (notes.length === 0 && hunks === 0) notes.push(texts.noDiff)
  if (hasHidden(file.fileName) || hasHidden(diff)) notes.unshift(texts.hiddenCharacters)
  const name = word(/^index ([0-9a-f]+)\.\./m)
  return {
    notes,
    hasBefore: hunks > 0 && name !== undefined && !/^0+$/.test(name) && mode !== submodule,
    isCut: said !== null,
  }
}

function modeNote(before: string, after: string): string {
  if (before === '100644' && after === '100755') return texts.becameExecutable
  if (before === '100755' && after === '100644') return texts.noLongerExecutable
  return texts.modeChanged(before, after)
}

/** When a diff was cut or not made, the server says so in the last row, after a backslash. */
function serversWord(diff: string): string | null {
  const last = diff.slice(diff.lastIndexOf('\n', diff.length - 2) + 1).trimEnd()
  return last.startsWith('\\ ') && !last.startsWith('\\ No newline') ? last.slice(2) : null
}
