/** Finds a text within another, ignoring case. Pure. */

/** The positions at which `words` begins in `text`; none when `words` is empty. */
export function placesOf(text: string, words: string): readonly number[] {
  if (words === '') return []
  const lower = text.toLowerCase()
  // Some letters become longer in lower case, which would shift the positions after them. A text with such letters is searched without changing its
  // case.
  const [within, what] = lower.length === text.length ? [lower, words.toLowerCase()] : [text, words]
  const places: number[] = []
  for (let at = within.indexOf(what); at !== -1; at = within.indexOf(what, at + what.length)) places.push(at)
  return places
}
