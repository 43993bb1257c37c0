/** The beginning of what somebody wrote, for a row. */

/** How much of a text a row shows, in characters. */
const excerptLength = 160

/** The beginning of a text in one line; `''` for an erased one. */
export function excerpt(text: string | null | undefined): string {
  const line = (text ?? '').trim().replaceAll(/\s+/g, ' ')
  const characters = Array.from(line.slice(0, excerptLength * 2))
  return characters.length <= excerptLength
    ? line
    : `${characters
        .slice(0, excerptLength - 1)
        .join('')
        .trimEnd()}…`
}
