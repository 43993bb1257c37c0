/** Adds dictated words to a text, with a space between them where a person would type one. */
export function appendWords(text: string, words: string): string {
  const spoken = words.trim()
  if (spoken === '') return text
  const isAdjacent = text === '' || /[\s([{"'“‘/-]$/.test(text) || /^[.,!?;:)\]}…]/.test(spoken)
  return `${text}${isAdjacent ? '' : ' '}${spoken}`
}
