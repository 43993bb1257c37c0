/** `opencode`: an open source coding agent, which speaks the Agent Client Protocol (ACP). */
import type { Agent, AgentConfiguration } from './agent.ts'

export const opencode = {
  name: 'opencode',
  label: 'opencode',
  logo: 'M5 4h14v16H5ZM9 9h6v6H9Z',
  can: ['ask', 'mcp'],
  isHiddenWhenMissing: true,
} as const satisfies Agent

/** opencode calls Anthropic's models, with the same key as `claude`. */
export const opencodeConfiguration = {
  program: 'opencode',
  provider: 'anthropic',
  variables: {
    program: 'OPENCODE_BIN',
    key: 'ANTHROPIC_API_KEY',
    baseUrl: { name: 'ANTHROPIC_BASE_URL', initial: 'https://api.anthropic.com' },
  },
} as const satisfies AgentConfiguration
