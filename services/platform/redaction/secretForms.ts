/** The forms in which known secrets may be printed, and the shapes by which tokens and private keys are recognized. */

/** A secret that must not be in anything recorded, shown or pushed. */
export interface KnownSecret {
  /** The secret's name within a sentence: `the project's secret TOKEN`. */
  readonly name: string
  readonly value: string
}

/** The length of the shortest secret that is hidden. Hiding shorter secrets would hide ordinary words. The product's own secrets are not shorter. */
const shortest = 8

/** All forms of these secrets, longest first, without duplicates. Secrets of fewer than 8 characters are left out. */
export function formsOf(secrets: readonly string[]): readonly string[] {
  const forms = secrets
    // Replaces lone surrogates, which never occur in output and cannot be URL-encoded.
    .map((secret) => Buffer.from(secret).toString())
    .flatMap((secret) => [secret, ...longLines(secret)])
    .filter((secret) => secret.length >= shortest)
    .flatMap((secret) => [
      secret,
      // A file that is not valid UTF-8 is searched as Latin 1. There, the secret's UTF-8 bytes look like this.
      Buffer.from(secret).toString('latin1'),
      ...hexForms(secret),
      ...base64Forms(secret),
      ...urlForms(secret),
      JSON.stringify(secret).slice(1, -1),
    ])
    .filter((form) => form.length >= shortest)
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

/**
 * A line of a secret is also looked for by itself if it has at least this many characters. Shorter lines, such as a single bracket, occur everywhere.
 */
const longLine = 12

/** The long lines of a secret, since a multi-line key may also be printed line by line. */
function longLines(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim())
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= longLine)
}

/**
 * The base64 characters that depend on the secret's bytes alone, for each offset (modulo 3) of the secret in the text before encoding. With them, a
 * secret is also found inside `Basic base64(user:secret)`.
 */
function base64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const first = Math.ceil((offset * 8) / 6)
    const last = Math.floor(((offset + bytes.length) * 8) / 6)
    const decided = encoded.slice(first, last)
    return [decided, decided.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

function hexForms(secret: string): readonly string[] {
  const lower = Buffer.from(secret).toString('hex')
  return [lower, lower.toUpperCase()]
}

function urlForms(secret: string): readonly string[] {
  const encoded = encodeURIComponent(secret)
  const lower = encoded.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase())
  return [encoded, lower, encoded.replaceAll('%20', '+')]
}

/** Classes of characters, one bit each. */
export const classes = { word: 1, base64Url: 2, capital: 4, tokenRun: 8, marker: 16 } as const

/** The classes of each ASCII character, by code. */
export const classesOf: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  const bits = [/[A-Za-z0-9_]/, /[A-Za-z0-9_-]/, /[A-Z0-9]/, /[A-Za-z0-9_.-]/, /[A-Z0-9 ]/]
  return bits.reduce((all, pattern, bit) => all | (pattern.test(character) ? 1 << bit : 0), 0)
})

/**
 * A token of this shape has `prefix`, then at least `least` characters of `class`, and ends before the first character of another class. The prefix
 * consists of characters of `class` too.
 */
export interface PrefixedShape {
  readonly prefix: string
  readonly class: number
  readonly least: number
}

/** The shapes of tokens of GitHub, Anthropic and AWS. */
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

/** The shape of a signed web token: a JSON header in base64url, a dot, and a JSON payload. The lengths are those of a header. */
export const webToken = { prefix: 'eyJ', shortestHeader: 11, longestHeader: 1024 } as const

/** How the first and the last line of a private key begin, and the `title` that follows. Both lines end with as many dashes as `dashes` says. */
export const keyBlock = {
  begin: '-----BEGIN ',
  end: '-----END ',
  title: /^[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?$/,
  longestTitle: 57,
  dashes: 5,
  /** If the end of a block never comes, this many characters are hidden. */
  longest: 64 * 1024,
} as const
