/** Secrets that are not for the agent: what the agent plants in its home or in git's settings gets none of them from a person's command. */
import { access, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat, getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { setProjectSecret } from '#domain/api/projectSettings.schema.ts'
import { executeTask } from '#domain/api/tasks.schema.ts'
import { hasEnded, openScene, type Scene } from '../server/scene.ts'

const secret = 'sturgeon-that-is-not-for-the-agent'
/** A program that git runs whenever it looks at the tree; it writes down its environment. */
const spy = (name: string) => `sh -c "env > /workspace/${name}; false"`
const plant = [
  `git config --global core.fsmonitor '${spy('of-home')}'`,
  `echo '${spy('of-shell')}' | tee ~/.bashrc ~/.bash_profile ~/.profile > ~/.bash_env`,
  `git config core.fsmonitor '${spy('of-tree')}'`,
  `mkdir -p hooks; for f in hooks/post-commit hooks/pre-commit; do printf '#!/bin/sh\\nenv > /workspace/of-hook\\n' > $f; chmod +x $f; done`,
  `git config core.hooksPath hooks`,
  `git config core.pager '${spy('of-pager')}'`,
].join('; ')

let scene: Scene
let taskId = ''
beforeAll(async () => {
  scene = await openScene([
    {
      when: /^Plant/,
      turns: [
        { tools: [{ name: 'Bash', input: { command: plant, description: 'Plant' } }] },
        { text: 'It is planted.' },
      ],
    },
  ])
  const { ada, projectId } = scene
  await ada.ask(setProjectSecret, {
    params: { projectId, name: 'TOKEN' },
    body: { value: secret, forAgent: false },
  })
  const task = await ada.task(projectId, 'Plant what you can')
  taskId = task.id
  await ada.taskOnce(taskId, hasEnded)
})
afterAll(() => scene?.close())

let turn = 1
async function command(text: string, withSecrets?: boolean) {
  turn += 1
  const body = { command: text, ...(withSecrets === undefined ? {} : { withSecrets }) }
  await scene.ada.ask(executeTask, { params: { taskId }, body })
  await scene.ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === turn)
}
const folder = () => join(scene.product.dataDir, 'runner/tasks', taskId)
async function planted(): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(join(folder(), 'tree'))).filter((name) => name.startsWith('of-'))
  const read = names.map(
    async (name) => [name, await readFile(join(folder(), 'tree', name), 'utf8')] as const,
  )
  return Object.fromEntries(await Promise.all(read))
}

test("finding 7: what the agent planted in its home or in the tree's git is not run with a command's secrets", async () => {
  expect(await readFile(join(folder(), 'home/.gitconfig'), 'utf8')).toContain('of-home')
  await command('git status; git add -A; git commit -m one; git -p log; bash -lc true; bash -ic true', true)
  for (const told of Object.values(await planted())) expect(told).not.toContain(secret)
})

// Holds findings 1.19.
test('finding 7: a command has a home of its own, which is gone with it', async () => {
  await command('echo "$TOKEN" > ~/kept; ls -A ~; ls -A ~ | wc -l; test -e ~/.claude || echo alone', true)
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
  expect(output.map(({ content }) => content).join('')).toMatch(/\nkept\n1\nalone\n/)
  await expect(access(join(folder(), 'command-home'))).rejects.toThrow('ENOENT')
  await expect(access(join(folder(), 'home/kept'))).rejects.toThrow('ENOENT')
})

// Holds findings 1.20.
test('finding 7: a command is given secrets only where the person said so, and the chat tells', async () => {
  await command('test -n "$TOKEN" && echo given || echo kept back')
  await command('test -n "$TOKEN" && echo "$TOKEN" && echo given || echo kept back', true)
  await scene.ada.ask(sendMessage, {
    params: { taskId },
    body: { message: 'test -n "$TOKEN" || echo still kept back', isCommand: true, messageType: 'command' },
  })
  await scene.ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === turn + 1)
  turn += 1
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
  expect(output.map(({ content }) => content).join('')).toMatch(/kept back\n[^]*given\n[^]*still kept back\n/)
  const { messages } = await scene.ada.ask(getChat, { params: { taskId } })
  const commands = messages.filter(({ isCommand }) => isCommand).slice(-3)
  expect(commands.map(({ withSecrets }) => withSecrets ?? false)).toEqual([false, true, false])
  // What it printed is in its response as in the terminal: without the secret.
  expect(commands[1]?.response).toMatch(/^exit 0\n.+\ngiven$/)
  expect(JSON.stringify(messages)).not.toContain(secret)
})
