/** Comments above tests and groups of tests that say what these are for, such as `// Holds …`, with the titles of the tests. */
import ts from 'typescript'

export interface TestTag {
  /** What the first group of the pattern matched. */
  readonly words: string
  /** The title with the groups around it; `null` when the comment is not above a test that runs. */
  readonly title: string | null
}

/** The comments of a test file that match the pattern. Between one and its test there may be only other comments. */
export function tagsIn(source: string, pattern: RegExp, file = 'test.tsx'): readonly TestTag[] {
  const lines = source.split('\n')
  if (!lines.some((line) => pattern.test(line))) return []
  const titles = titlesByLine(source, file)
  return lines.flatMap((line, index) => {
    const [, words] = pattern.exec(line) ?? []
    if (words === undefined) return []
    let below = index + 1
    while (/^\s*\/\//.test(lines[below] ?? '')) below += 1
    return [{ words, title: titles.get(below) ?? null }]
  })
}

function titlesByLine(source: string, file: string): ReadonlyMap<number, string | null> {
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const titles = new Map<number, string | null>()
  const visit = (node: ts.Node, groups: readonly string[]): void => {
    const own = ts.isCallExpression(node) ? titleOf(node) : undefined
    if (own !== undefined) {
      const line = parsed.getLineAndCharacterOfPosition(node.getStart()).line
      titles.set(line, own === null || titles.get(line) === null ? null : [...groups, own].join(' › '))
    }
    if (own !== null) ts.forEachChild(node, (child) => visit(child, own ? [...groups, own] : groups))
  }
  visit(parsed, [])
  return titles
}

const kinds: ReadonlySet<string> = new Set(['test', 'it', 'describe'])
const never: ReadonlySet<string> = new Set(['skip', 'todo'])

/** The title of a test or a group; `null` for one that never runs, and `undefined` for any other call. */
function titleOf({ expression, arguments: [title] }: ts.CallExpression): string | null | undefined {
  const names = namesOf(expression)
  if (!kinds.has(names[0] ?? '')) return undefined
  if (names.some((name) => never.has(name))) return null
  if (title === undefined) return undefined
  if (ts.isStringLiteralLike(title)) return title.text
  return ts.isTemplateExpression(title) ? title.getText().slice(1, -1) : undefined
}

/** The names in a call, such as `test`, and `each` in `test.each(…)`. */
function namesOf(called: ts.Expression): readonly string[] {
  if (ts.isIdentifier(called)) return [called.text]
  if (ts.isPropertyAccessExpression(called)) return [...namesOf(called.expression), called.name.text]
  if (ts.isCallExpression(called)) return namesOf(called.expression)
  return ts.isTaggedTemplateExpression(called) ? namesOf(called.tag) : []
}
