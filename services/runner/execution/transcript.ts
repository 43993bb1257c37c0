/** What an agent without a session is told of what was said before: another agent's turns, or messages that never had one. */
import type { MessageDocument } from '#domain/views/chat.ts'

/** Characters of history that go along; the latest count. */
const longest = 20_000

/** The message with the conversation before it, oldest first; the message alone when there was none. */
export function withTranscript(message: string, earlier: readonly MessageDocument[]): string {
  const said = earlier
    .filter(({ messageType }) => messageType === 'user' || messageType === 'response')
    .map(
      ({ messageType, agent, message: text }) =>
        `${messageType === 'user' ? 'Person' : (agent ?? 'Agent')}: ${text ?? ''}`,
    )
    .join('\n\n')
  if (said === '') return message
  return `Earlier in this task:\n\n${said.slice(-longest)}\n\nThe message to work on now:\n\n${message}`
}
