/** Which models an agent can be asked to use. */
import type { AgentName } from '../agents.ts'
import { isModelName } from '../kernel/names.ts'

/** For each agent, a pattern for models that it does not have. Clients may send a model that was chosen for another agent. */
const foreign: Readonly<Partial<Record<AgentName, RegExp>>> = {
  claude: /^(?:o\d|gpt|chatgpt|codex|gemini|grok|composer|kimi|deepseek|auto)(?:[-.]|$)/i,
  // Cursor offers models of many makers. Foreign to it are only model aliases of other agents, such as `opus`, and OpenAI's models named like `o3`.
  cursor: /^(?:default|best|opus|opusplan|sonnet|haiku|o\d(?:-.*)?)(?:\[1m\])?$/i,
  codex: /^(?:claude|default|best|opus|sonnet|haiku|gemini|grok|composer|kimi|deepseek|auto)/i,
  opencode: /^(?!claude-)/i,
  gemini: /^(?!gemini-|gemma-)/i,
}

/** Whether the agent can use this model. An agent that cannot use the requested model uses its default model. */
export function takesModel(agent: AgentName, model: string): boolean {
  return isModelName(model) && foreign[agent]?.test(model) !== true
}
