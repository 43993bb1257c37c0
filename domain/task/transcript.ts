/** A conversation as text, for an agent without a session of it. */

interface Said {
  readonly messageType: string
  readonly agent: string | null
  readonly message: string | null
}

/** How many characters of a conversation are passed on; the end is kept. */
const longestTranscript = 20_000

/** What people and agents said, oldest first; empty when there was nothing. */
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

/** Cuts by code points, so that no emoji is split. */
function lastOf(text: string): string {
  if (text.length <= longestTranscript) return text
  const last = text.slice(-longestTranscript)
  return /^[\uDC00-\uDFFF]/.test(last) ? last.slice(1) : last
}
