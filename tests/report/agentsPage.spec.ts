/** `docs/agents.md` says what tests show of each agent, and what the screens offer is what tests show. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agents, isAgentName } from '#domain/agents.ts'
import { root } from '../load/project.ts'
import { agentsPage, features, shownIn } from './agentsPage.ts'

const shown = ['tests/server', 'services/runner/agents'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:spec|test)\.ts$/.test(file))
    .flatMap((file) => shownIn(readFileSync(join(root, folder, file), 'utf8'))),
)
const offered = ['plan', 'ask', 'steering', 'mcp', 'commands', 'subagents']

test('the page of the agents is as it is generated', async () => {
  await expect(agentsPage(shown)).toMatchFileSnapshot('../../docs/agents.md')
})

test('the tests name agents and features that there are', () => {
  expect(shown.filter(({ agent }) => !isAgentName(agent))).toEqual([])
  expect(shown.filter(({ feature }) => !Object.hasOwn(features, feature))).toEqual([])
})

test.each(agents)(
  'a test shows each ability that the screens offer of $name, and no other',
  ({ name, can }) => {
    const tested = shown.flatMap(({ agent, feature }) => (agent === name ? [feature] : []))
    expect(offered.filter((feature) => tested.includes(feature))).toEqual(
      offered.filter((feature) => can.some((one) => one === feature)),
    )
  },
)

test('a tag is read only above a test', () => {
  expect(shownIn('// Shows a, b: x, y.\n  test(')).toHaveLength(4)
  expect(shownIn('// Shows a: x.\nconst')).toEqual([])
})
