import { expect, test } from 'vitest'
import { z } from 'zod'
import type { McpServerForAgent } from '../port.ts'
import { opencode } from './opencode.ts'

const Settings = z.object({ permission: z.record(z.string(), z.string()) })
const server = (name: string, ...toolsOff: string[]): McpServerForAgent => ({
  name,
  toolsOff,
  kind: 'http',
  url: 'http://127.0.0.1:1/mcp/1',
  bearer: 'of-the-run',
})

/** What opencode does with a tool: the last rule that fits counts. */
function ruleFor(tool: string, mcpServers: readonly McpServerForAgent[]): string | undefined {
  const start = {
    origin: 'http://127.0.0.1:1',
    token: 'of-the-run',
    model: null,
    mode: 'ask',
    mcpServers,
  } as const
  const { environment } = opencode.launch(start)
  const { permission } = Settings.parse(JSON.parse(environment['OPENCODE_CONFIG_CONTENT'] ?? ''))
  const fits = (rule: string) => (rule.endsWith('*') ? tool.startsWith(rule.slice(0, -1)) : rule === tool)
  return Object.entries(permission).findLast(([rule]) => fits(rule))?.[1]
}

test('only tools of our own server need no permission, also where another server is named like it', () => {
  const servers = [server('flightdeck_x', 'quiet'), server('flightdeck')]
  expect(ruleFor('flightdeck_ask_person', servers)).toBe('allow')
  expect(ruleFor('flightdeck_x_add', servers)).toBe('ask')
  expect(ruleFor('flightdeck_x_quiet', servers)).toBe('deny')
})
