/** The shapes that well-known tokens and private keys are recognised by, each found by what it begins with. */

/** Classes of characters, one bit each. */
export const classes = { word: 1, base64Url: 2, capital: 4, tokenRun: 8, marker: 16 } as const

/** The classes of an ASCII character, by its code. */
export const classesOf: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  const bits = [/[A-Za-z0-9_]/, /[A-Za-z0-9_-]/, /[A-Z0-9]/, /[A-Za-z0-9_.-]/, /[A-Z0-9 ]/]
  return bits.reduce((all, pattern, bit) => all | (pattern.test(character) ? 1 << bit : 0), 0)
})

/** A prefix and at least `least` more characters of a class, and those of it that follow. Every character of the prefix is of the class. */
export interface PrefixedShape {
  readonly prefix: string
  readonly class: number
  readonly least: number
}

/** GitHub's, Anthropic's and AWS's tokens. */
export const prefixedShapes: readonly PrefixedShape[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'].map((prefix) => ({
    prefix,
    class: classes.word,
    least: 20,
  })),
  { prefix: 'sk-ant-', class: classes.base64Url, least: 20 },
  { prefix: 'AKIA', class: classes.capital, least: 16 },
  { prefix: 'ASIA', class: classes.capital, least: 16 },
]

/** A JSON header in base64url, a dot, and a JSON payload: what every signed web token begins with. Where the dot may stand. */
export const webToken = { prefix: 'eyJ', shortestHeader: 11, longestHeader: 1024 } as const

/** The first and the last line of a private key, but for the five dashes that end them. */
export const keyBlock = {
  begin: '-----BEGIN ',
  end: '-----END ',
  title: /^[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?$/,
  longestTitle: 57,
  dashes: 5,
  /** A block whose end never comes stops being hidden after this many characters. */
  longest: 64 * 1024,
} as const
