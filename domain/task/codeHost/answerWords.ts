/** The reply on a pull request to feedback that an agent worked on. */
import { labelOf, type AgentName } from '../../agents.ts'
import { visibleText, withoutMentions } from '../visibleText.ts'

/** The maximum length of the agent's own words, in characters. */
const longestWords = 1_500

/**
 * The reply in Markdown: the agent's own words, the commit with its work, and a line that says that an agent wrote it and for whom. It mentions
 * nobody.
 */
export function answerWords({
  said,
  commit,
  agent,
  person,
}: {
  /** The agent's last message in the turn; empty when there was none. */
  readonly said: string
  /** The commit with the agent's work; `null` when the turn changed nothing. */
  readonly commit: string | null
  readonly agent: AgentName
  /** The name of the task's owner; `null` when it is no longer known. */
  readonly person: string | null
}): string {
  const words = withoutMentions(visibleText(said))
  const own = words.length <= longestWords ? words : `${words.slice(0, longestWords)}…`
  const author = `_Written by the agent ${labelOf(agent)}${person === null ? '' : ` for ${withoutMentions(person)}`}, with Flightdeck._`
  // This part comes first, so that nobody takes the agent's words for work that was done.
  const told =
    commit === null
      ? ['Nothing was changed for this.', claim.test(own) ? '' : own]
      : [own, `The changes are in ${commit}.`]
  return [...told, author].filter(Boolean).join('\n\n')
}

/** A message that only claims that the work is done. */
const claim = /^\W*(?:done|fixed|changed|ok|okay|sure|yes)\W*$/i
