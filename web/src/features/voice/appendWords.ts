/** Spoken words behind what is there already, with the space between them that a person would have typed. */
export function appendWords(text: string, words: string): string {
  const spoken = words.trim()
  if (spoken === '') return text
  const close = text === '' || /[\s([{"'“‘/-]$/.test(text) || /^[.,!?;:)\]}…]/.test(spoken)
  return `${text}${close ? '' : ' '}${spoken}`
}
