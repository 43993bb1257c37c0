/** `claude`: Anthropic's coding agent. */
import type { Agent, AgentConfiguration } from './agent.ts'

export const claude = {
  name: 'claude',
  label: 'Claude',
  logo: 'M12 3v18M3 12h18M5.6 5.6l12.8 12.8M18.4 5.6 5.6 18.4',
  can: ['plan', 'ask', 'steering', 'mcp', 'commands', 'subagents'],
} as const satisfies Agent

export const claudeConfiguration = {
  program: 'claude',
  provider: 'anthropic',
  variables: {
    program: 'CLAUDE_BIN',
    key: 'ANTHROPIC_API_KEY',
    baseUrl: { name: 'ANTHROPIC_BASE_URL', initial: 'https://api.anthropic.com' },
  },
} as const satisfies AgentConfiguration
