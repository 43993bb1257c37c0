/** Agents that speak ACP badly: each is stopped and told in a sentence, and nothing of it is left. Its program is a stand-in. */
import { chmod, copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { setProjectSecret } from '#domain/api/projectSettings.schema.ts'
import { createTask } from '#domain/api/tasks.schema.ts'
import { ownFolder } from '../product.ts'
import { isLongRun } from '../longRun.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

let folder = ''
let scene: Scene
beforeAll(async () => {
  folder = await ownFolder()
  const program = join(folder, 'opencode')
  await copyFile(join(import.meta.dirname, '../standins/acpAgent.sh'), program)
  await chmod(program, 0o755)
  scene = await openScene([], { env: { OPENCODE_BIN: program, SILENT_AGENT_SECONDS: '10' } })
  const params = { projectId: scene.projectId, name: 'TOKEN' }
  await scene.ada.ask(setProjectSecret, {
    params,
    body: { value: 'swordfish-of-the-project', forAgent: true },
  })
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

const begin = async (description: string) => {
  const body = { projectId: scene.projectId, description, branch: 'main', agent: 'opencode' as const }
  return (await scene.ada.ask(createTask, { body })).task.id
}
const ended = (taskId: string, turn: number) =>
  scene.ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === turn, 90_000)

const faults = [
  ['Break the protocol', 'other', /does not keep to its protocol \(ACP\): it answered what was not asked/],
  ['Print noise', 'other', /does not keep to its protocol \(ACP\): it prints lines that are none/],
  ['Flood', 'other', /does not keep to its protocol \(ACP\): it writes without end/],
  ['Hang', 'agent_silent', /10 seconds/],
  ['Die', 'agent_died', /7/],
  ['Tell a secret', 'agent_died', /^it was: \[redacted\]$/],
] as const
/** `dialogue.test.ts` shows what each is taken for, so `npm test` tries only those that need a process. */
const tried = faults.filter(([, code]) => isLongRun || code !== 'other')

describe.each(tried)('an agent that does: %s', (description, code, reason) => {
  test('fails its turn alone, with what it had said kept, and the next one starts anew', async () => {
    const taskId = await begin(description)
    expect(await ended(taskId, 1)).toMatchObject({
      status: 'failed',
      failure: { code, reason: expect.stringMatching(reason) },
    })
    const { messages } = await scene.ada.ask(getChat, { params: { taskId } })
    expect(messages.find(({ messageType }) => messageType === 'response')?.message).toMatch(/^I have begun\./)
    await scene.ada.ask(sendMessage, { params: { taskId }, body: { message: 'Die' } })
    expect(await ended(taskId, 2)).toMatchObject({ status: 'failed', failure: { code: 'agent_died' } })
    const left = (await scene.product.processes()).filter(({ command }) => command.includes('opencode'))
    expect(left).toEqual([])
  })
})
