/** `codex`: OpenAI's coding agent. */
import type { Agent, AgentConfiguration } from './agent.ts'

export const codex = {
  name: 'codex',
  label: 'Codex',
  logo: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M8.5 9.5 11 12l-2.5 2.5M13 15h3.5',
  canSteer: false,
} as const satisfies Agent

export const codexConfiguration = {
  program: 'codex',
  variables: {
    program: 'CODEX_BIN',
    key: 'OPENAI_API_KEY',
    baseUrl: { name: 'OPENAI_BASE_URL', initial: 'https://api.openai.com' },
  },
} as const satisfies AgentConfiguration
