/** The shapes that well-known tokens and private keys are recognised by, written so that a cut text can be judged. */

/** What a shape covers from where it starts, and what it goes on covering after that. */
export interface ShapeMatch {
  readonly length: number
  /** Characters of this class belong to the token as long as they go on; every character of the match itself is one. */
  readonly run?: RegExp
  /** Everything up to the end marker of a key block belongs to it. */
  readonly block?: true
}

export interface TokenShape {
  readonly prefix: string
  /** Judges the text at `at`, where the prefix stands; `undecided` when the text ends too early to know. */
  readonly judge: (text: string, at: number) => ShapeMatch | 'undecided' | undefined
}

/** A prefix and at least `least` more characters of a class: GitHub's, Anthropic's and AWS's tokens. */
function prefixed(prefix: string, run: RegExp, least: number): TokenShape {
  return {
    prefix,
    judge(text, at) {
      const from = at + prefix.length
      for (let i = from; i < from + least; i += 1) {
        if (i >= text.length) return 'undecided'
        if (!run.test(text.charAt(i))) return undefined
      }
      return { length: prefix.length + least, run }
    },
  }
}

const word = /[A-Za-z0-9_]/
const base64Url = /[A-Za-z0-9_-]/
const capital = /[A-Z0-9]/
const longestJwtHeader = 1024

/** A JSON header in base64url, a dot, and a JSON payload: what every signed web token begins with. */
const jsonWebToken: TokenShape = {
  prefix: 'eyJ',
  judge(text, at) {
    let i = at + 3
    while (i < text.length && i < at + longestJwtHeader && base64Url.test(text.charAt(i))) i += 1
    if (i === text.length) return 'undecided'
    if (text.charAt(i) !== '.' || i < at + 11) return undefined
    const payload = text.slice(i + 1, i + 4)
    if (payload.length < 3) return 'eyJ'.startsWith(payload) ? 'undecided' : undefined
    return payload === 'eyJ' ? { length: i + 4 - at, run: /[A-Za-z0-9_.-]/ } : undefined
  },
}

const longestMarker = 80
const privateKey: TokenShape = {
  prefix: '-----BEGIN ',
  judge(text, at) {
    const line = text.slice(at, at + longestMarker)
    const marker = /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.exec(line)
    if (marker !== null) return { length: marker[0].length, block: true }
    const unfinished = line.length < longestMarker && /^-----BEGIN [A-Z0-9 ]*-{0,4}$/.test(line)
    return unfinished ? 'undecided' : undefined
  },
}

/** The length of a key block's end marker at `at`, 0 when there is none. */
export function blockEndAt(text: string, at: number): number | 'undecided' {
  if (text.charAt(at) !== '-') return 0
  const line = text.slice(at, at + longestMarker)
  const marker = /^-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.exec(line)
  if (marker !== null) return marker[0].length
  const opening = '-----END '
  const unfinished =
    line.length <= opening.length ? opening.startsWith(line) : /^-----END [A-Z0-9 ]*-{0,4}$/.test(line)
  return unfinished && line.length < longestMarker ? 'undecided' : 0
}

export const tokenShapes: readonly TokenShape[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix) => prefixed(prefix, word, 20)),
  prefixed('github_pat_', word, 20),
  prefixed('sk-ant-', base64Url, 20),
  prefixed('AKIA', capital, 16),
  prefixed('ASIA', capital, 16),
  jsonWebToken,
  privateKey,
]
