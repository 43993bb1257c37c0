/**
 * Texts of which each part is held by a test. Each part has a number, as in `[7.3a] A list is sorted.`, or `[7.3a open: why] …` when no test holds it
 * yet. A comment above a test names the parts that it holds: `// Holds contract 7.3a, 7.4; screens 2.1.`
 */
import { tagsIn } from './testTags.ts'

export interface Part {
  readonly number: string
  readonly text: string
  /** The reason why no test holds the part; `null` when one does. */
  readonly open: string | null
}

/** A reference to a part, in a comment above a test or a group. */
export interface Holding {
  /** The name of a text, such as `contract`. */
  readonly text: string
  readonly number: string
  /** The title with the groups around it; `null` when the comment is not above a test that runs. */
  readonly title: string | null
}

/** The parts of a text in order. Throws when a line begins without a number. */
export function partsOf(text: string): readonly Part[] {
  return linesOf(text).flatMap((line) => {
    const [before = '', ...parts] = line.split(/\[(\d+\.\d+[a-z]?(?: open: [^\]]+)?)\] /)
    if (before !== '' || parts.length === 0) throw new Error(`A line begins without a number: ${line}`)
    return parts.flatMap((mark, index): Part[] => {
      if (index % 2 === 1) return []
      const [number = '', open = null] = mark.split(' open: ')
      return [{ number, open, text: (parts[index + 1] ?? '').trim() }]
    })
  })
}

/** The paragraphs, list items and table rows after the first section's heading, without the heads of tables. */
function linesOf(text: string): readonly string[] {
  return text
    .slice(Math.max(text.search(/^## /m), 0))
    .split('\n')
    .filter((line, index, all) => isLine(line) && !isRule(all[index + 1] ?? ''))
    .map((line) => line.replace(/^(\| |- )/, '').replace(/ \|$/, ''))
}

const isLine = (line: string) => line.trim() !== '' && !line.startsWith('#') && !isRule(line)
/** The line below the head of a table. */
const isRule = (line: string) => line.startsWith('|-')

/** All references (`// Holds …`) in a test file. */
export function holdingsIn(source: string, file?: string): readonly Holding[] {
  return tagsIn(source, /^\s*\/\/ Holds (.+)\.$/, file).flatMap(({ words, title }) =>
    words.split('; ').flatMap((each) => {
      const [text = '', ...numbers] = each.split(/,? /)
      return numbers.map((number) => ({ text, number, title }))
    }),
  )
}

/**
 * The reasons why the parts of a text are not all held; none when each part has a number of its own and either a test or the reason why it has none.
 */
export function faultsOf(parts: readonly Part[], holdings: readonly Holding[]): readonly string[] {
  const numbers = parts.map(({ number }) => number)
  const held = new Set(holdings.flatMap(({ number, title }) => (title === null ? [] : [number])))
  return [
    ...numbers
      .filter((number, index) => numbers.indexOf(number) !== index)
      .map((number) => `${number} is there twice.`),
    ...parts.flatMap(({ number, open }) => {
      if (open === null) return held.has(number) ? [] : [`No test holds ${number}.`]
      return held.has(number) ? [`A test holds ${number}, which says that it is open.`] : []
    }),
    ...holdings.flatMap(({ number, title }) => {
      if (title === null) return [`What holds ${number} is not above a test that runs.`]
      return numbers.includes(number) ? [] : [`${title} holds ${number}, which is not there.`]
    }),
  ]
}

/** A page with the parts and the tests that hold them. */
export function tableOf(parts: readonly Part[], holdings: readonly (Holding & { file: string })[]): string {
  const rows = parts.map(({ number, text, open }) => {
    const by = holdings.filter((each) => each.number === number).map(({ file, title }) => `${file}: ${title}`)
    const cells = [number, text, open === null ? by.join('<br>') : `open: ${open}`]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  })
  return `| Part | Text | Tests |\n|---|---|---|\n${rows.join('')}`
}
