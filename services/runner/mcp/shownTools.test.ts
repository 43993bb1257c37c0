/** The limits of what is remembered about the tools of a server. */
import { expect, test, vi } from 'vitest'
import { mcpLimits } from '#domain/api/mcpServers.ts'
import { shownTools } from './shownTools.ts'

test('a server that names new tools without end is refused them, and only the first are remembered', () => {
  const onChange = vi.fn<(sentence: string) => void>()
  const tools = shownTools([], onChange)
  tools.asked(null)
  expect(tools.shown([{ name: 'add' }], true)).toHaveLength(1)
  for (let page = 0; page < 5; page += 1) {
    const flood = Array.from({ length: mcpLimits.tools }, (_, index) => ({ name: `t${page}-${index}` }))
    expect(tools.shown(flood, false)).toEqual([])
  }
  expect(onChange.mock.lastCall?.[0]).toContain('and 195 more')
  expect(tools.refusal('t0-0')).toBeDefined()
  expect(tools.refusal('t4-7')).toBeDefined()
  expect(tools.refusal('add')).toBeUndefined()
  tools.shown([{ name: 'add', description: 'Does something else now' }], true)
  expect(tools.refusal('add')).toBeDefined()
})
