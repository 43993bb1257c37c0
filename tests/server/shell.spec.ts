/** A person's shell: who may have one, what is recorded of it, and that it ends with its sandbox. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { undoTurn } from '#domain/api/fork.schema.ts'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import { setProjectSecret, updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { cancelTask, deleteTask } from '#domain/api/tasks.schema.ts'
import type { Live } from '../product/live.ts'
import { createGate } from '../standins/messagesApi.ts'
import { eventually } from './engines.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const secret = 'a-secret-that-nobody-may-read'
const gate = createGate()
const neverReleased = createGate()
let scene: Scene
beforeAll(async () => {
  scene = await openScene(
    [
      { when: /Be ready/, turns: [{ text: 'I am ready.' }] },
      { when: /Talk on/, turns: [{ text: 'I talk and talk on.', hold: { afterWords: 3, gate } }] },
      { when: /Never end/, turns: [{ text: 'I never end.', hold: { afterWords: 1, gate: neverReleased } }] },
    ],
    // The agents stay, with the shells in their sandboxes, even if this machine is short of memory.
    { env: { WARM_AGENTS: '8' } },
  )
  const { projectId } = scene
  const params = { projectId, name: 'TOKEN' }
  await scene.ada.ask(setProjectSecret, { params, body: { value: secret, forAgent: false } })
  const variables = [{ name: 'MAVEN_OPTS', value: '-Xmx1g' }]
  await scene.ada.ask(updateProjectSettings, { params: { projectId }, body: { variables } })
})
afterAll(() => scene?.close())

async function readyTask(): Promise<{ readonly taskId: string; readonly live: Live }> {
  const { id: taskId } = await scene.ada.task(scene.projectId, 'Be ready')
  await scene.ada.taskOnce(taskId, hasEnded)
  return { taskId, live: await watching(scene.ada, taskId) }
}

async function openedIn(live: Live, taskId: string): Promise<string> {
  const opening = await live.openShell(taskId)
  if (!opening.opened) throw new Error(opening.error)
  return opening.shellId
}

const outputOf = (live: Live, shellId: string) =>
  live.of('terminal_output').filter(({ executionId, shell }) => executionId === shellId && shell)
/** What a shell has printed so far, as the live connection tells it. */
const printed = (live: Live, shellId: string): string =>
  outputOf(live, shellId)
    .map(({ content }) => content)
    .join('')
/** Waits until a shell has printed these words, at most until its end. */
async function once(live: Live, shellId: string, words: string): Promise<void> {
  const hasEnded = () => outputOf(live, shellId).some(({ shell }) => shell?.ended !== undefined)
  await live.until(words, () => printed(live, shellId).includes(words) || hasEnded())
  expect(printed(live, shellId)).toContain(words)
}

// Attacks shell: a secret of the project is printed, and a password that no program echoes is looked for in the record.
test('what is typed and printed works like a terminal, beside a running turn too, and is recorded without secrets', async () => {
  const { taskId, live } = await readyTask()
  const shellId = await openedIn(live, taskId)
  expect(await live.type(taskId, shellId, 'tty; stty size; echo one-$((40 + 2)); pwd\r')).toBe('taken')
  await once(live, shellId, 'one-42')
  await once(live, shellId, '/workspace')
  expect(printed(live, shellId)).toMatch(/\/dev\/pts\/\d+\r\n24 80\r\n/)
  expect(await live.resizeShell(taskId, shellId, { rows: 50, columns: 132 })).toBe('taken')
  await live.type(taskId, shellId, 'stty size\r')
  await once(live, shellId, '50 132')
  await live.type(taskId, shellId, 'echo "opts-$((1 + 1)) $MAVEN_OPTS"\r')
  await once(live, shellId, 'opts-2 -Xmx1g -Dhttp.proxyHost=')

  await scene.ada.ask(sendMessage, { params: { taskId }, body: { message: 'Talk on' } })
  await gate.reached
  await live.type(
    taskId,
    shellId,
    `printf %s ${secret.slice(0, 9)}; printf %s ${secret.slice(9)}; echo; echo beside\r`,
  )
  await once(live, shellId, 'beside\r\n')
  gate.release()
  const ended = await scene.ada.taskOnce(taskId, ({ status }) => status !== 'running')
  expect(ended.status).toBe('completed')
  // Input that no program echoes is recorded nowhere.
  await live.type(taskId, shellId, 'read -rsp "secret-$((1 + 1))? " password; echo done-${#password}\r')
  await once(live, shellId, 'secret-2? ')
  await live.type(taskId, shellId, 'not-to-be-seen\r')
  await once(live, shellId, 'done-14')

  expect(await live.closeShell(taskId, shellId)).toBe('taken')
  await once(live, shellId, '[The shell was closed.]')
  expect(await live.type(taskId, shellId, 'x')).toBe('gone')
  const history = JSON.stringify(await scene.ada.ask(getTaskHistory, { params: { taskId }, query: {} }))
  expect(history).toContain('ShellOpened')
  expect(history).toContain('[redacted]')
  expect(history).not.toContain(secret)
  expect(history).not.toContain('not-to-be-seen')
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId }, query: {} })
  expect(output.findLast(({ shell }) => shell)).toMatchObject({ shell: { ended: 'closed', rows: 50 } })
  live.close()
})

// Attacks shell: another person types into the shell of a task.
test('a person who comes back joins the shell that is open, and nobody else may', async () => {
  const { taskId, live } = await readyTask()
  const shellId = await openedIn(live, taskId)
  live.close()
  const again = await watching(scene.ada, taskId)
  expect(await again.openShell(taskId)).toMatchObject({ opened: true, shellId })
  await again.type(taskId, shellId, 'echo still-$((1 + 1))\r')
  await once(again, shellId, 'still-2')
  // A second tab sees what is typed in the first one, and the size is that of the one that was resized last.
  const tab = await watching(scene.ada, taskId)
  expect(await tab.openShell(taskId, { rows: 30, columns: 100 })).toMatchObject({ opened: true, shellId })
  await tab.resizeShell(taskId, shellId, { rows: 30, columns: 100 })
  await again.type(taskId, shellId, 'stty size\r')
  for (const seen of [again, tab]) await once(seen, shellId, '30 100')
  tab.close()
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId }, query: {} })
  expect(output.some(({ executionId }) => executionId === shellId)).toBe(true)

  const grace = await scene.product.signIn('grace')
  const other = await grace.socket()
  expect(await other.openShell(taskId)).toMatchObject({ opened: false, code: 'not_found' })
  expect(await other.type(taskId, shellId, 'echo stolen\r')).toBe('gone')
  expect(await other.closeShell(taskId, shellId)).toBe('gone')
  expect(await again.openShell(taskId, { rows: 100_000, columns: 80 })).toMatchObject({
    opened: false,
    code: 'invalid_input',
  })
  expect(await again.openShell(randomUUID())).toMatchObject({ opened: false, code: 'not_found' })
  expect(printed(again, shellId)).not.toContain('stolen')
  again.close()
  other.close()
})

// Attacks shell: a shell outlives the sandbox of a cancelled turn.
test('a shell in the sandbox of a turn that is cancelled ends with it', async () => {
  const { id: taskId } = await scene.ada.task(scene.projectId, 'Never end')
  const live = await watching(scene.ada, taskId)
  await neverReleased.reached
  const shellId = await openedIn(live, taskId)
  await live.type(taskId, shellId, 'echo one-$((40 + 2))\r')
  await once(live, shellId, 'one-42')
  await scene.ada.ask(cancelTask, { params: { taskId } })
  await scene.ada.taskOnce(taskId, hasEnded)
  await once(live, shellId, '[The shell ended with the sandbox that it was in.]')
  expect(await live.type(taskId, shellId, 'x')).toBe('gone')
  live.close()
})

// Attacks shell: a program of a shell outlives its task.
test('a task that is deleted takes its shell with it', async () => {
  const { taskId, live } = await readyTask()
  const shellId = await openedIn(live, taskId)
  await live.type(taskId, shellId, 'exec -a shell-to-end sleep 800\r')
  const runs = async () =>
    (await scene.product.processes()).some(({ command }) => command.includes('shell-to-end'))
  await eventually('it runs', runs)
  await scene.ada.ask(deleteTask, { params: { taskId } })
  await eventually('it has ended', async () => !(await runs()))
  expect(await live.openShell(taskId)).toMatchObject({ opened: false, code: 'not_found' })
  live.close()
})

// Attacks shell: a program of a shell outlives a server that is killed, or its end goes unrecorded.
test('a server that is killed leaves no shell behind, and one that starts again offers a new one', async () => {
  const { taskId, live } = await readyTask()
  const shellId = await openedIn(live, taskId)
  await live.type(taskId, shellId, 'setsid sleep 801 & sleep 802\r')
  await eventually('it runs', async () =>
    (await scene.product.processes()).some(({ command }) => command.includes('sleep 802')),
  )
  await scene.product.kill9()
  await eventually('nothing of it is left', async () => (await scene.product.processes()).length === 0)
  await scene.product.restart()
  const again = await watching(scene.ada, taskId)
  expect(await again.type(taskId, shellId, 'x')).toBe('gone')
  await eventually('its end is recorded', async () => {
    const { output } = await scene.ada.ask(getTerminal, { params: { taskId }, query: {} })
    return output.some(({ executionId, shell }) => executionId === shellId && shell?.ended === 'stopped')
  })
  // The agent is gone, so this one has a sandbox of its own.
  const opening = await again.openShell(taskId)
  expect(opening).toMatchObject({ opened: true, shared: false })
  if (!opening.opened) return
  await again.type(taskId, opening.shellId, 'ls; exit\r')
  await once(again, opening.shellId, 'README.md')
  await once(again, opening.shellId, '[The shell has exited.]')
  again.close()
  live.close()
})

// Attacks shell: a program of a shell replaces a folder by a link while an undo writes into it.
test('a shell in a sandbox of its own ends before an undo restores the files', async () => {
  const script = { when: /Be ready/, turns: [{ text: 'I am ready.' }] }
  const own = await openScene([script], { env: { IDLE_AGENT_SECONDS: '0' } })
  try {
    const { ada, projectId } = own
    const { id: taskId } = await ada.task(projectId, 'Be ready')
    await ada.taskOnce(taskId, hasEnded)
    await ada.ask(sendMessage, { params: { taskId }, body: { message: 'Be ready again' } })
    const { execution } = await ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === 2)
    const live = await watching(ada, taskId)
    // The files are in use for a moment after the end of a turn.
    const opening = await vi.waitFor(async () => {
      const answered = await live.openShell(taskId)
      expect(answered).toMatchObject({ opened: true, shared: false })
      return answered
    })
    if (!opening.opened) return
    await ada.ask(undoTurn, { params: { taskId }, body: { executionId: execution?.id ?? '' } })
    await once(live, opening.shellId, '[The shell ended with the sandbox that it was in.]')
    const history = async () =>
      JSON.stringify(await ada.ask(getTaskHistory, { params: { taskId }, query: {} }))
    await eventually('it is restored', async () => (await history()).includes('"WorkspaceRestored"'))
    const kept = await history()
    expect(kept).toContain('"sandbox_ended"')
    expect(kept.indexOf('"sandbox_ended"')).toBeLessThan(kept.indexOf('"WorkspaceRestored"'))
    live.close()
  } finally {
    await own.close()
  }
})
