/** The title of a task: the first line of its description, cut to 100 characters (section 5). */
const titleLength = 100

export function titleOf(description: string): string {
  const line = (description.trim().split('\n')[0] ?? '').trim()
  // By code points: a cut must not halve an emoji.
  return [...line].slice(0, titleLength).join('')
}
