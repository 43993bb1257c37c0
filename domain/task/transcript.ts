/** A conversation as text, for an agent that cannot resume its session. */

interface Said {
  readonly messageType: string
  readonly agent: string | null
  readonly message: string | null
}

/** The maximum length of a transcript in UTF-16 code units. A longer conversation loses its beginning. */
const longestTranscript = 20_000

/** The messages of people and agents as one text, oldest first; empty without messages. */
export function transcriptOf(messages: readonly Said[]): string {
  const said = messages
    .filter(({ messageType }) => messageType === 'user' || messageType === 'response')
    .map(
      ({ messageType, agent, message }) =>
        `${messageType === 'user' ? 'Person' : (agent ?? 'Agent')}: ${message ?? ''}`,
    )
  return lastOf(said.join('\n\n'))
}

export function joinTranscripts(...transcripts: readonly string[]): string {
  return lastOf(transcripts.filter((transcript) => transcript !== '').join('\n\n'))
}

/** The end of the text, cut so that no character is split. */
function lastOf(text: string): string {
  if (text.length <= longestTranscript) return text
  const last = text.slice(-longestTranscript)
  return /^[\uDC00-\uDFFF]/.test(last) ? last.slice(1) : last
}
