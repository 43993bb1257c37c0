/** The contract, the table that says which test holds each of its lines, and what is wrong between the two. */
import { withWords, within, type Title } from './titles.ts'

/** A row of the table: a line of the contract, or a part of one. */
export interface Row {
  readonly line: string
  /** The test that holds it, or what is missing. */
  readonly by: { readonly file: string; readonly words: string } | { readonly open: string }
}

/** The lines of the contract, without headings and heads of tables: paragraphs, items of lists, rows of tables. */
export function linesOf(contract: string): readonly string[] {
  return contract
    .split('\n')
    .filter((line, index, all) => isLine(line) && !isRule(all[index + 1] ?? ''))
    .map((line) => (line.startsWith('|') ? line.slice(1, -1) : line.replace(/^- /, '')).trim())
}

/** Sections and what they are divided into, in order. */
export function headingsOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^##+ /.test(line))
}

/** The rows of the table, which may be in several pieces. Throws when one has not three cells. */
export function rowsOf(table: string): readonly Row[] {
  return table
    .split('\n')
    .filter((line, index, all) => line.startsWith('|') && !isRule(line) && !isRule(all[index + 1] ?? ''))
    .map((row) => {
      const cells = row
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('\\|', '|'))
      const [line, file, words] = cells
      if (line === undefined || file === undefined || words === undefined || cells.length !== 3)
        throw new Error(`A row has three cells: ${row}`)
      const [, open] = /^open: (.+)$/.exec(file) ?? []
      return { line, by: open === undefined ? { file, words } : { open } }
    })
}

/** Why a table does not hold its contract: nothing, when every line is in it once, in order, and every test is there. */
export function faultsOf(
  lines: readonly string[],
  rows: readonly Row[],
  /** The titles in a test file; nothing when there is no such file. */
  titlesOf: (file: string) => readonly Title[] | undefined,
): readonly string[] {
  return [...uncovered(lines, rows), ...rows.flatMap((row) => unheld(row, titlesOf))]
}

/** The first place where lines and rows part. */
function uncovered(lines: readonly string[], rows: readonly Row[]): readonly string[] {
  const left = [...rows]
  for (const line of lines) {
    for (let rest = line; rest !== '';) {
      const part = left.shift()?.line
      if (part === undefined || part === '' || !rest.startsWith(part))
        return [`The contract goes on with: ${rest}\nThe table goes on with: ${part ?? 'nothing'}`]
      rest = rest.slice(part.length).trim()
    }
  }
  return left.map(({ line }) => `The contract has no such line, or not again: ${line}`)
}

/** Words that are shorter than this say nothing of a test. */
const shortest = 8

function unheld({ line, by }: Row, titlesOf: Parameters<typeof faultsOf>[2]): readonly string[] {
  if ('open' in by) return []
  const { file, words } = by
  const titles = /(?:\.(?:test|spec)\.(?:tsx?|js)|^tests\/runner\/\w+(?:\.contract)?\.ts)$/.test(file)
    ? titlesOf(file)
    : undefined
  if (titles === undefined) return [`${file} is no test file, for: ${line}`]
  if (words.length < shortest) return [`These are too few words of a title: ${words}`]
  const found = withWords(titles, words)
  if (found.length === 1) return []
  const those = found.map(({ own, groups }) => `\n  ${[...groups, own].join(within)}`).join('')
  return [`${found.length} titles in ${file} have these words: ${words}${those}`]
}

function isLine(line: string): boolean {
  return line.trim() !== '' && !line.startsWith('#') && !isRule(line)
}

/** The line below the head of a table. */
function isRule(line: string): boolean {
  return line.startsWith('|-')
}
