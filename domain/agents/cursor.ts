/** The coding agent `cursor-agent`. */
import type { Agent, AgentConfiguration } from './agent.ts'

export const cursor = {
  name: 'cursor',
  label: 'Cursor',
  logo: 'M12 2.5 20.5 7v10L12 21.5 3.5 17V7ZM3.5 7 12 12l8.5-5M12 12v9.5',
  can: [],
} as const satisfies Agent

export const cursorConfiguration = {
  program: 'cursor-agent',
  provider: 'cursor',
  variables: { program: 'CURSOR_BIN', key: 'CURSOR_API_KEY', hosts: 'CURSOR_HOSTS' },
} as const satisfies AgentConfiguration
