/** `gemini`: Google's coding agent, which speaks the Agent Client Protocol (ACP). */
import type { Agent, AgentConfiguration } from './agent.ts'

export const gemini = {
  name: 'gemini',
  label: 'Gemini',
  logo: 'M12 3c1 5 4 8 9 9-5 1-8 4-9 9-1-5-4-8-9-9 5-1 8-4 9-9Z',
  can: ['ask', 'mcp'],
  isHiddenWhenMissing: true,
} as const satisfies Agent

export const geminiConfiguration = {
  program: 'gemini',
  provider: 'gcp.gemini',
  variables: {
    program: 'GEMINI_BIN',
    key: 'GEMINI_API_KEY',
    baseUrl: { name: 'GOOGLE_GEMINI_BASE_URL', initial: 'https://generativelanguage.googleapis.com' },
  },
} as const satisfies AgentConfiguration
