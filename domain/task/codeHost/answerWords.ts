/** What is written on a pull request about feedback that an agent worked on. */
import type { AgentName } from '../../agents.ts'
import { visibleText } from '../visibleText.ts'

/** Characters of the agent's own words. */
const longestWords = 1_500

/** The answer in Markdown: the agent's own words, the commit with its work, and that an agent wrote it, for whom. It mentions nobody. */
export function answerWords({
  said,
  commit,
  agent,
  person,
}: {
  /** The last words of its turn; empty where there were none. */
  readonly said: string
  /** `null` where the turn changed nothing. */
  readonly commit: string | null
  readonly agent: AgentName
  /** The name of the person whose task it is; `null` where that is gone. */
  readonly person: string | null
}): string {
  const words = quiet(visibleText(said))
  const own = words.length <= longestWords ? words : `${words.slice(0, longestWords)}…`
  const changes = commit === null ? 'Nothing was changed for this.' : `The changes are in ${commit}.`
  const isTold = commit === null && own !== ''
  const author = `_Written by the agent ${agent}${person === null ? '' : ` for ${quiet(person)}`}, with Flightdeck._`
  return [own, isTold ? '' : changes, author].filter(Boolean).join('\n\n')
}

/** Without mentions: nobody is called by an agent. */
const quiet = (text: string): string => text.replaceAll('@', '@\u200B')
