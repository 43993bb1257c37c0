/** How a sentence names the field of an input that it is about. Pure. */

/** An issue of the schema library, as far as it tells where it is. */
interface Place {
  readonly path?: readonly PropertyKey[] | undefined
}

/**
 * The field as a sentence begins with it, in words: 'The setup command', 'The value in entry 1 of the variables'. Programs are told its
 * name beside the sentence.
 */
export function fieldNamed({ path = [] }: Place): string {
  const named = path.reduce<string>((whole, step) => {
    const isIndex = typeof step === 'number'
    const part = isIndex ? `entry ${step + 1}` : `the ${wordsOf(String(step))}`
    if (whole === '') return part
    return whole.startsWith('entry ') ? `${part} in ${whole}` : `${part} of ${whole}`
  }, '')
  return named === '' ? 'The body' : `${named.charAt(0).toUpperCase()}${named.slice(1)}`
}

/** Fields that people know by another name. */
const called: Readonly<Partial<Record<string, string>>> = {
  codexModel: 'model',
  repoUrl: 'repository address',
  minPosition: 'position',
}

/** `setupCommand` as 'setup command'. */
const wordsOf = (name: string): string =>
  called[name] ?? name.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)

/** A sentence about a field: `says` follows its name. */
export const saying =
  (says: string) =>
  (issue: Place): string =>
    `${fieldNamed(issue)} ${says}`
