/** The titles of tests as they stand in a file: also those of tables and templates, and those that begin on a later line. */
import ts from 'typescript'

export interface Title {
  /** As it is written in the file, `%s` and `${…}` unfilled. */
  readonly own: string
  /** The titles of the groups it is in, the outermost first. */
  readonly groups: readonly string[]
}

/** Stands between a group and what is in it. */
export const within = ' › '

const kinds: ReadonlySet<string> = new Set(['test', 'it', 'describe'])
const never: ReadonlySet<string> = new Set(['skip', 'todo'])

/** The titles of all tests and groups in a source, in its order, without those that are never run. How it is read hangs on its file's name. */
export function titlesIn(source: string, file = 'test.tsx'): readonly Title[] {
  const titles: Title[] = []
  const visit = (node: ts.Node, groups: readonly string[]): void => {
    const own = ts.isCallExpression(node) ? titleOf(node) : undefined
    if (own === null) return
    if (own !== undefined) titles.push({ own, groups })
    ts.forEachChild(node, (child) => visit(child, own === undefined ? groups : [...groups, own]))
  }
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true), [])
  return titles
}

/** The titles that have these words: in their own title, or across it and the groups before it, joined by `›`. */
export function withWords(titles: readonly Title[], words: string): readonly Title[] {
  return titles.filter(({ own, groups }) => {
    const before = groups.join(within)
    return [...groups, own].join(within).includes(words) && !before.includes(words)
  })
}

/** The title of a test or a group; `null` of one that is never run, `undefined` of any other call. */
function titleOf({ expression, arguments: [title] }: ts.CallExpression): string | null | undefined {
  const names = namesOf(expression)
  if (!kinds.has(names[0] ?? '')) return undefined
  if (names.some((name) => never.has(name))) return null
  if (title === undefined) return undefined
  if (ts.isStringLiteralLike(title)) return title.text
  return ts.isTemplateExpression(title) ? title.getText().slice(1, -1) : undefined
}

/** `test`, `each` of `test.each(…)` or of `test.each`. */
function namesOf(called: ts.Expression): readonly string[] {
  if (ts.isIdentifier(called)) return [called.text]
  if (ts.isPropertyAccessExpression(called)) return [...namesOf(called.expression), called.name.text]
  if (ts.isCallExpression(called)) return namesOf(called.expression)
  return ts.isTaggedTemplateExpression(called) ? namesOf(called.tag) : []
}
