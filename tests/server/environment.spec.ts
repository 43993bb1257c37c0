/** What a project's setup leaves is kept, and used by the tasks that follow; with a real sandbox. */
import { createHmac, randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { getProjectEnvironment, rebuildProjectEnvironment } from '#domain/api/environment.schema.ts'
import { deleteProject } from '#domain/api/projects.schema.ts'
import { setProjectSecret, updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { webhookPath } from '#domain/api/server.ts'
import { cancelTask, createTask, prepareTask, type Task } from '#domain/api/tasks.schema.ts'
import { eventually } from './engines.ts'
import { pushElsewhere } from './pushing.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const secret = 'swordfish-of-the-project'
const webhookSecret = 'a secret of the hook'
/** The names are those that a careless program would take for options, for several files, or for places outside. */
const setup = [
  'test ! -e broken || exit 1',
  'mkdir -p deps ~/.cache/tool ~/.local/bin ~/.cargo',
  "echo '*' > deps/.gitignore",
  'date +%s%N > deps/stamp',
  'echo cached > ~/.cache/tool/file',
  'printf "#!/bin/sh\\necho tool\\n" > ~/.local/bin/tool; chmod 4755 ~/.local/bin/tool',
  'echo password > ~/.npmrc; echo password > ~/.cargo/credentials.toml',
  'echo "token=$TOKEN" > deps/token.txt; printf %s "$TOKEN" | base64 > ~/.cache/tool/encoded',
  "echo odd > 'deps/--checkpoint-action=exec=sh'; echo odd > $'deps/two\\nlines'",
  'ln -s /etc/passwd deps/outside; mkfifo deps/pipe; echo private > deps/private; chmod 600 deps/private',
].join('\n')
const look = [
  'echo "[stamp $(cat deps/stamp)]"',
  'echo "[cached $(cat ~/.cache/tool/file)] [tool $(~/.local/bin/tool)] [mode $(stat -c %a ~/.local/bin/tool)]"',
  'echo "[settings $(ls -A ~ | grep -cE "npmrc|cargo")] [private $(stat -c %a deps/private)]"',
  'echo "[link $(readlink deps/outside)] [odd $(ls deps | grep -c "odd\\|action\\|two\\|lines")] [pipe $(ls deps | grep -c pipe)]"',
  'echo "[secrets $(ls deps ~/.cache/tool | grep -cE "token|encoded")]"',
  'echo changed > deps/stamp; echo changed > ~/.cache/tool/file',
].join('; ')

let scene: Scene
beforeAll(async () => {
  const tools = [{ name: 'Bash', input: { command: look, description: 'Look around' } }]
  scene = await openScene(
    [
      { when: /Look around/, turns: [{ tools }, { text: 'Seen.' }] },
      { when: /Once more/, turns: [{ text: 'Nothing.' }] },
    ],
    { env: { GITHUB_WEBHOOK_SECRET: webhookSecret } },
  )
  const params = { projectId: scene.projectId }
  await scene.ada.ask(setProjectSecret, { params: { ...params, name: 'TOKEN' }, body: { value: secret } })
})
afterAll(() => scene?.close())

const change = (setupCommand: string) =>
  scene.ada.ask(updateProjectSettings, { params: { projectId: scene.projectId }, body: { setupCommand } })
const environment = () => scene.ada.ask(getProjectEnvironment, { params: { projectId: scene.projectId } })
async function ran(description: string): Promise<{ task: Task; terminal: string }> {
  const { id } = await scene.ada.task(scene.projectId, description)
  const task = await scene.ada.taskOnce(id, hasEnded)
  return { task, terminal: await terminalOf(id) }
}
async function terminalOf(taskId: string): Promise<string> {
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
  return output.map(({ content }) => content).join('')
}
/** What the command printed, after the line that shows the command itself. */
const seen = (terminal: string, name: string) =>
  [...terminal.matchAll(new RegExp(`\\[${name} ([^\\]]*)\\]`, 'g'))].at(-1)?.[1]
const layers = async () =>
  (await readdir(join(scene.product.dataDir, 'runner/environments'))).filter((name) => !name.startsWith('.'))
const push = (files: Readonly<Record<string, string>>) =>
  pushElsewhere(
    { dataDir: scene.product.dataDir, clone: join(scene.product.dataDir, 'clone'), branch: 'main' },
    files,
  )
async function rebuilt() {
  // It would join one that is under way, also one that began by itself: with the settings of before.
  await settled()
  const answer = await scene.ada.ask(rebuildProjectEnvironment, { params: { projectId: scene.projectId } })
  expect(answer.state).toBe('building')
  return settled()
}
/** The environment when none is being prepared. */
async function settled() {
  await eventually('it was prepared', async () => (await environment()).state !== 'building')
  return environment()
}
/** Has the code host say that somebody has pushed to the repository. */
async function hostTellsOfPush(): Promise<void> {
  const state = await readFile(join(scene.product.dataDir, 'codehost/code-host.json'), 'utf8')
  const { repositories } = z
    .object({ repositories: z.array(z.object({ id: z.int() })) })
    .parse(JSON.parse(state))
  const body = JSON.stringify({ repository: { id: repositories[0]?.id } })
  const answer = await fetch(scene.product.base + webhookPath, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`,
    },
    body,
  })
  expect(answer.status).toBe(202)
}

let stamp: string | undefined

// Attacks layers: a setup leaves secrets and passwords for later tasks.
test('the first task is set up, and its agent has the caches and no settings', async () => {
  expect(await environment()).toMatchObject({ state: 'none', builtAt: null, seconds: null, bytes: null })
  await change(setup)
  const { terminal } = await ran('Look around')
  expect(terminal).toContain('Its result is kept for other tasks.')
  stamp = seen(terminal, 'stamp')
  expect(stamp).toMatch(/^\d+$/)
  expect(seen(terminal, 'cached')).toBe('cached')
  expect(seen(terminal, 'tool')).toBe('tool')
  expect(seen(terminal, 'settings')).toBe('0')
  const shown = await environment()
  expect(shown).toMatchObject({ state: 'ready', reason: null, usesEarlier: false })
  expect(shown.bytes).toBeGreaterThan(0)
  expect(shown.leftOut.toSorted()).toEqual(['.cache/tool/encoded', 'deps/token.txt'])
  expect(JSON.stringify(shown)).not.toContain(secret)
})

// Attacks layers: a task changes what the next one gets.
// Attacks layers: a program with the setuid bit, a pipe, a link out of the workspace, names that are options of tar.
test('the next task has the same, whatever the first one did to it, and is not set up', async () => {
  const { terminal } = await ran('Look around')
  expect(terminal).toContain('The environment was prepared less than a minute ago and is used again.')
  expect(terminal).not.toContain('Setting up the workspace')
  expect(seen(terminal, 'stamp')).toBe(stamp)
  expect(seen(terminal, 'cached')).toBe('cached')
  expect(seen(terminal, 'tool')).toBe('tool')
  expect(seen(terminal, 'mode')).toBe('755')
  expect(seen(terminal, 'settings')).toBe('0')
  expect(seen(terminal, 'private')).toBe('600')
  expect(seen(terminal, 'link')).toBe('/etc/passwd')
  expect(seen(terminal, 'odd')).toBe('3')
  expect(seen(terminal, 'pipe')).toBe('0')
  expect(seen(terminal, 'secrets')).toBe('0')
})

test('a workspace that was made before its task has it too, and the terminal says so', async () => {
  const { ada, product, projectId } = scene
  const id = randomUUID()
  const body = { taskId: id, branch: 'main' }
  await ada.ask(prepareTask, { params: { projectId }, body })
  const marker = join(product.dataDir, 'runner/tasks', id, 'setup')
  await eventually('it was filled', async () => (await readFile(marker, 'utf8').catch(() => '')) !== '')
  await ada.ask(createTask, { body: { id, projectId, branch: 'main', description: 'Look around' } })
  await ada.taskOnce(id, hasEnded)
  const terminal = await terminalOf(id)
  expect(terminal).toContain('The environment was prepared')
  expect(terminal).not.toContain('Setting up the workspace')
  expect(seen(terminal, 'stamp')).toBe(stamp)
})

// Attacks layers: an archive that was cut short.
test.for<[string, (archive: string) => Promise<void>]>([
  ['is cut short', (archive) => truncate(archive, 3_000)],
  // That is found out when an agent has started already.
  ['cannot be unpacked', async (archive) => writeFile(archive, 'x'.repeat((await stat(archive)).size))],
])('one that %s is not used, and made anew', async ([, damage]) => {
  const [name = ''] = await layers()
  await damage(join(scene.product.dataDir, 'runner/environments', name, 'tree.tar'))
  const { task, terminal } = await ran('Look around')
  expect(task.status).toBe('completed')
  expect(terminal).toContain('Its result is kept for other tasks.')
  expect(seen(terminal, 'stamp')).toMatch(/^\d+$/)
  expect(seen(terminal, 'stamp')).not.toBe(stamp)
  stamp = seen(terminal, 'stamp')
  expect(await layers()).toHaveLength(1)
})

test('that of another project is never found', async () => {
  const folder = join(scene.product.dataDir, 'runner/environments')
  const [name = ''] = await layers()
  const other = name.replace(scene.projectId, '00000000-0000-4000-8000-000000000000')
  await rename(join(folder, name), join(folder, other))
  const { terminal } = await ran('Look around')
  expect(terminal).toContain('Setting up the workspace')
  expect(await layers()).toContain(other)
  await rm(join(folder, other), { recursive: true })
})

test('another lock file needs another setup; one that fails uses the earlier result, and says so', async () => {
  await push({ 'package-lock.json': '{}', broken: '' })
  const { task, terminal } = await ran('Look around')
  expect(task.status).toBe('completed')
  expect(terminal).toContain('ended with exit code 1.')
  expect(terminal).toMatch(/The environment that was prepared .* ago is used instead\./)
  expect(seen(terminal, 'cached')).toBe('cached')
  expect(await settled()).toMatchObject({ state: 'failed', usesEarlier: true })
})

test('a rebuild runs without a task; what fails is said, and what succeeds is used', async () => {
  const failed = await rebuilt()
  expect(failed).toMatchObject({ state: 'failed', usesEarlier: true })
  expect(failed.reason).toContain("The project's setup command ended with exit code 1.")
  await change(
    `curl -sS https://registry.example/; echo "with $TOKEN"; ${setup.replace('test ! -e broken || exit 1', 'true')}`,
  )
  await push({ 'yarn.lock': '' })
  const shown = await rebuilt()
  expect(shown).toMatchObject({ state: 'ready', reason: null })
  expect(shown.log).toContain('with [redacted]')
  expect(shown.log).toContain('registry.example:443 was not reached: it is not among the hosts')
  const { terminal } = await ran('Look around')
  expect(terminal).toContain('and is used again.')
  const tasks = await readdir(join(scene.product.dataDir, 'runner/tasks'))
  expect(tasks.filter((name) => name.endsWith('.ahead'))).toEqual([])
})

test('lock files that change on the default branch make it again in the background, which says which', async () => {
  const before = await layers()
  await push({ 'web/package-lock.json': '{}', 'README.md': '# Changed\n' })
  await hostTellsOfPush()
  await eventually(
    'it began',
    async () => (await environment()).changed?.includes('web/package-lock.json') === true,
  )
  expect(await settled()).toMatchObject({ state: 'ready', changed: ['web/package-lock.json'] })
  expect(await layers()).toHaveLength(before.length + 1)
})

// Attacks layers: a setup changes files of the repository for all tasks.
test('a setup that changes what git does not ignore is not kept, and says which file', async () => {
  await change('echo more >> README.md; touch "new-$TOKEN"')
  for (const _ of [1, 2]) expect((await ran('Once more')).terminal).toContain('The workspace was set up in')
  const shown = await environment()
  expect(shown.state).toBe('failed')
  expect(shown.reason).toContain(
    'The setup changes files that git does not ignore (README.md, new-[redacted])',
  )
})

// Attacks layers: a setup that hangs.
// Attacks layers: a turn prepares the workspace, so that its next setup is kept for other tasks.
test('one that hangs and is cancelled leaves nothing', async () => {
  const before = await layers()
  await change('mkdir deps; echo "*" > deps/.gitignore; echo begun; sleep 600')
  const { id } = await scene.ada.task(scene.projectId, 'Once more')
  await eventually('the setup runs', async () => (await terminalOf(id)).includes('begun\n'))
  await scene.ada.ask(cancelTask, { params: { taskId: id } })
  await scene.ada.taskOnce(id, hasEnded)
  expect(await environment()).toMatchObject({ state: 'failed', reason: 'The setup was cancelled.' })
  expect(await layers()).toEqual(before)
  // After a turn in its workspace, what the setup leaves is no other task's business.
  await change('mkdir -p deps; echo "*" > deps/.gitignore')
  await scene.ada.ask(sendMessage, { params: { taskId: id }, body: { message: 'Once more' } })
  await scene.ada.taskOnce(id, ({ status }) => status === 'completed')
  const kept = await layers()
  await change('mkdir -p deps; echo "*" > deps/.gitignore; true')
  await scene.ada.ask(sendMessage, { params: { taskId: id }, body: { message: 'Once more' } })
  await eventually('it was set up again', async () =>
    /deps\/.gitignore; true[^]*The workspace was set up/.test(await terminalOf(id)),
  )
  expect(await layers()).toEqual(kept)
})

test('without a setup command there is nothing to rebuild, and a deleted project leaves nothing, also of a rebuild', async () => {
  const params = { projectId: scene.projectId }
  await scene.ada.taskOnce((await scene.ada.task(scene.projectId, 'Once more')).id, hasEnded)
  await change('')
  expect(await scene.ada.refused(rebuildProjectEnvironment, { params })).toMatchObject({
    status: 409,
    code: 'nothing_to_run',
  })
  await change('sleep 600')
  await scene.ada.ask(rebuildProjectEnvironment, { params })
  const folder = (name: string) => readdir(join(scene.product.dataDir, 'runner', name))
  await eventually('its setup runs', async () =>
    (await folder('environments')).some((name) => name.startsWith('.half-')),
  )
  await scene.ada.ask(deleteProject, { params })
  await eventually('its environments are gone', async () => (await folder('environments')).length === 0)
  await eventually('its workspaces are gone', async () => (await folder('tasks')).length === 0)
})
