/** A conversation as text, for an agent that has no session of the conversation. */

interface Said {
  readonly messageType: string
  readonly agent: string | null
  readonly message: string | null
}

/** How many characters of a conversation are passed on; the end of the conversation is kept. */
const longestTranscript = 20_000

/** The messages of people and agents, oldest first; empty when there were none. */
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

/** The end of a text, cut by code points, so that no emoji is split. */
function lastOf(text: string): string {
  if (text.length <= longestTranscript) return text
  const last = text.slice(-longestTranscript)
  return /^[\uDC00-\uDFFF]/.test(last) ? last.slice(1) : last
}
