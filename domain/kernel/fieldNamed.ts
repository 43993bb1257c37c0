/** How a sentence names the field of an input that it is about. Pure. */

/** An issue of the schema library, as far as it tells where it is. */
interface Place {
  readonly path?: readonly PropertyKey[] | undefined
}

/** The field as a sentence names it. */
export const fieldNamed = ({ path = [] }: Place): string =>
  path.length === 0 ? 'The body' : `\`${path.map(String).join('.')}\``

/** A sentence about a field: `says` follows its name. */
export const saying =
  (says: string) =>
  (issue: Place): string =>
    `${fieldNamed(issue)} ${says}`
