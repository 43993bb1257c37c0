/** The forms in which a known secret may turn up in what a program prints or writes. */

/** A secret that nothing may hold which is recorded, shown or pushed. */
export interface KnownSecret {
  /** Within a sentence: `the project's secret TOKEN`. */
  readonly name: string
  readonly value: string
}

/** Shorter ones would blot out ordinary words; none of ours is so short. */
const shortest = 8

/** Every form of these secrets, longest first, without repeats. Secrets of fewer than 8 characters are left out. */
export function formsOf(secrets: readonly string[]): readonly string[] {
  const forms = secrets
    // Half a character would be in no output, and has no address form.
    .map((secret) => Buffer.from(secret).toString())
    .flatMap((secret) => [secret, ...longLines(secret)])
    .filter((secret) => secret.length >= shortest)
    .flatMap((secret) => [
      secret,
      ...hexForms(secret),
      ...base64Forms(secret),
      ...urlForms(secret),
      JSON.stringify(secret).slice(1, -1),
    ])
    .filter((form) => form.length >= shortest)
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

/** Shorter lines, such as a bracket alone, are in everything. */
const longLine = 12

/** A key of many lines is also printed line by line. */
function longLines(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim())
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= longLine)
}

/**
 * The characters that a secret's bytes alone decide, for each place (modulo 3) at which it may stand in what was encoded: so it is
 * found inside `Basic base64(user:secret)` too.
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
