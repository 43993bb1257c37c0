/** Parses JSON that may contain comments and trailing commas, as in devcontainer.json. */
import { jsonOf } from '#platform/json.ts'

// The closing quote and the closing `*/` are optional. If they were required, the pattern would search the whole rest of the text for each string or
// comment without an end.
const string = String.raw`"(?:[^"\\]+|\\[^])*"?`
const stringOrComment = new RegExp(String.raw`${string}|//[^\r\n]*|/\*(?:[^]*?\*/|[^]*)`, 'g')
const stringOrTrailingComma = new RegExp(String.raw`${string}|,(?=\s*[\]}])`, 'g')

/** The value of the text; `undefined` when it is not JSON even without comments and trailing commas. */
export function jsonWithComments(text: string): unknown {
  const plain = text
    .replace(/^\uFEFF/, '')
    .replace(stringOrComment, (part) => (part.startsWith('"') ? part : ' '))
    .replace(stringOrTrailingComma, (part) => (part === ',' ? '' : part))
  return jsonOf(plain)
}
