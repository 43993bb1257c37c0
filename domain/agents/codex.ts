/** `codex`: OpenAI's coding agent. */
import type { Agent, AgentConfiguration } from './agent.ts'

export const codex = {
  name: 'codex',
  label: 'Codex',
  logo: 'M4 6l6 6-6 6M12 18h8',
  can: ['plan', 'ask', 'steering', 'mcp', 'commands'],
} as const satisfies Agent

export const codexConfiguration = {
  program: 'codex',
  provider: 'openai',
  variables: {
    program: 'CODEX_BIN',
    key: 'OPENAI_API_KEY',
    baseUrl: { name: 'OPENAI_BASE_URL', initial: 'https://api.openai.com' },
  },
} as const satisfies AgentConfiguration
