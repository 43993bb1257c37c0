/** The reply on a pull request to feedback that an agent has worked on. */
import { labelOf, type AgentName } from '../../agents.ts'
import { visibleText, withoutMentions } from '../visibleText.ts'

/** The most characters of the agent's words in a reply. */
const longestWords = 1_500

/**
 * The reply in Markdown: the agent's words, the commit with its work, and a line that says which agent wrote the reply for whom. No `@` in the reply
 * can notify anybody.
 */
export function feedbackReply({
  said,
  commit,
  agent,
  person,
}: {
  /** The agent's last message in the turn; empty when there was none. */
  readonly said: string
  /** The commit with the work; `null` when the turn changed nothing. */
  readonly commit: string | null
  readonly agent: AgentName
  /** The name of the task's owner; `null` when the name is no longer known. */
  readonly person: string | null
}): string {
  const words = withoutMentions(visibleText(said))
  const own = words.length <= longestWords ? words : `${words.slice(0, longestWords)}…`
  const author = `_Written by the agent ${labelOf(agent)}${person === null ? '' : ` for ${withoutMentions(person)}`}, with Flightdeck._`
  // If the turn changed nothing, the reply says so first, since the agent's words may sound like finished work.
  const told =
    commit === null
      ? ['Nothing was changed for this.', claim.test(own) ? '' : own]
      : [own, `The changes are in ${commit}.`]
  return [...told, author].filter(Boolean).join('\n\n')
}

/** Matches a message that only claims that the work is done. */
const claim = /^\W*(?:done|fixed|changed|ok|okay|sure|yes)\W*$/i
