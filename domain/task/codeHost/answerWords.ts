/** The reply on a pull request to feedback that an agent worked on. */
import type { AgentName } from '../../agents.ts'
import { visibleText } from '../visibleText.ts'

/** At most this many characters of the agent's own words. */
const longestWords = 1_500

/** The reply in Markdown: the agent's own words, the commit with its work, and a line that an agent wrote it and for whom. It mentions nobody. */
export function answerWords({
  said,
  commit,
  agent,
  person,
}: {
  /** The agent's last message in the turn; empty when there was none. */
  readonly said: string
  /** `null` where the turn changed nothing. */
  readonly commit: string | null
  readonly agent: AgentName
  /** The name of the task's owner; `null` when it is no longer known. */
  readonly person: string | null
}): string {
  const words = quiet(visibleText(said))
  const own = words.length <= longestWords ? words : `${words.slice(0, longestWords)}…`
  const changes = commit === null ? 'Nothing was changed for this.' : `The changes are in ${commit}.`
  const isTold = commit === null && own !== ''
  const author = `_Written by the agent ${agent}${person === null ? '' : ` for ${quiet(person)}`}, with Flightdeck._`
  return [own, isTold ? '' : changes, author].filter(Boolean).join('\n\n')
}

/** Breaks up mentions, so that an agent notifies nobody. */
const quiet = (text: string): string => text.replaceAll('@', '@\u200B')
