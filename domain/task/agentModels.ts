/** Which names of models an agent can take: what is known to be another maker's is none. Pure. */
import { isModelName } from '../kernel/modelName.ts'
import type { AgentName } from './events.ts'

/** A client may also send a name whose person was never asked. */
const others: Readonly<Record<AgentName, RegExp>> = {
  claude: /^(?:o\d|gpt|chatgpt|codex|gemini|grok|composer|kimi|deepseek|auto)(?:[-.]|$)/i,
  // Aliases that only `claude` knows.
  cursor: /^(?:default|best|opus|opusplan|sonnet|haiku|o\d(?:-.*)?)(?:\[1m\])?$/i,
}

/** Whether the agent is asked to use this model; of any other it takes its own choice. */
export function takesModel(agent: AgentName, model: string): boolean {
  return isModelName(model) && !others[agent].test(model)
}
