/**
 * The daily budget of a person: the turn that uses the last of it ends well, and the next one gets no model, with the reason, whichever agent used
 * the budget, and also after a restart.
 */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTask } from '#domain/api/tasks.schema.ts'
import type { AgentName } from '#domain/agents.ts'
import { ownFolder } from '../product.ts'
import { installCursorAgent } from '../standins/cursorAgent.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

/** US dollars for a million tokens: so far apart that only both agents together use the day up. */
const each = (dollars: number) => ({
  input: dollars,
  output: dollars,
  cacheRead: dollars,
  cacheWrite: dollars,
})
const prices = { claude: each(1), dearest: each(1e6) }
/** What a turn of the look-alike of cursor tells that it used: its model has no price, so that it counts as the dearest. */
const turnOfCursor = 26
const tokenOfClaude = 1e-6

let folder = ''
let scene: Scene
beforeAll(async () => {
  folder = await ownFolder()
  scene = await openScene([{ when: /Say/, turns: [{ text: 'Said.' }] }], {
    env: {
      CURSOR_BIN: await installCursorAgent(folder),
      CURSOR_API_KEY: 'the-key-of-cursor',
      MODEL_PRICES: JSON.stringify(prices),
      DAY_DOLLARS: String(turnOfCursor + tokenOfClaude),
    },
  })
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

async function run(agent: AgentName, description: string) {
  const { ada, projectId } = scene
  const body = { projectId, description, branch: 'main', agent }
  const { task } = await ada.ask(createTask, { body })
  return ada.taskOnce(task.id, hasEnded)
}

test('a person whose day is used up is told so, by each agent, and also after a restart', async () => {
  const usedUp = {
    status: 'failed',
    failure: { code: 'budget', reason: "Today's budget is used up." },
  }
  expect((await run('cursor', 'Remember')).status).toBe('completed')
  // What is left is a token's worth.
  expect((await run('claude', 'Say one')).status).toBe('completed')
  await scene.product.terminate()
  await scene.product.restart()
  expect(await run('claude', 'Say two')).toMatchObject(usedUp)
  expect(await run('cursor', 'Remember')).toMatchObject(usedUp)
})
