/** What an agent or a command leaves running: after the end of a turn none of its processes runs, and nothing in the workspace changes. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { executeTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { agentsOf } from '../server/agentProcesses.ts'
import { hasEnded, openScene, type Scene } from '../server/scene.ts'

/** A text by which this test's own processes are found on the host. */
const mark = `late-${randomUUID()}`
/** Writes for as long as it lives. */
const beat = (name: string) => `while :; do date +%s%N > /workspace/${name}; sleep 0.02; done`
const sh = (name: string) => `sh -c '${beat(name)}' ${mark}`
const perl = (script: string) => `perl -e '${script}' ${mark}`

/** Waits until all of them write. */
const written = 'until [ -s session -a -s fork -a -s nohup -a -s deaf ]; do sleep 0.05; done'
/** Each is started in a turn, in the background, and outlives the shell that started it. */
const stubborn = [
  `setsid ${sh('session')} </dev/null >/dev/null 2>&1 &`,
  `(setsid setsid ${sh('fork')} </dev/null >/dev/null 2>&1 &)`,
  `nohup ${sh('nohup')} >/dev/null 2>&1 &`,
  // It hears no signal that can be refused, and calls itself as the agent's and the relay's processes do.
  `setsid ${perl('$0 = "/opt/agent/agent -p"; $SIG{$_} = "IGNORE" for qw(INT TERM HUP QUIT CONT TSTP); while (1) { open my $f, ">", "/workspace/deaf"; print $f rand; close $f; select undef, undef, undef, 0.02 }')} </dev/null >/dev/null 2>&1 &`,
  // A chain in which each is gone as soon as the next is there.
  `setsid ${perl('my $n = 0; while (1) { exit if fork; $n += 1; if ($n % 50 == 0) { open my $f, ">", "/workspace/chain"; print $f $n; close $f } }')} </dev/null >/dev/null 2>&1 &`,
]

let scene: Scene
beforeAll(async () => {
  const runs = (command: string) => [
    { tools: [{ name: 'Bash', input: { command, description: 'Leave something behind' } }] },
    { text: 'It is done.' },
  ]
  scene = await openScene(
    [
      { when: /^Leave/, turns: runs(`${stubborn.join('\n')}\n${written}; ls`) },
      { when: /^Write/, turns: runs('echo written > written; ls') },
    ],
    { env: { WARM_AGENTS: '8' } },
  )
})
afterAll(() => scene?.close())

const ours = async () => (await scene.product.processes()).filter(({ command }) => command.includes(mark))

async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0]
}
const contentsOf = (taskId: string) =>
  Promise.all(
    ['session', 'fork', 'nohup', 'deaf', 'chain'].map((name) =>
      readFile(join(scene.product.dataDir, 'runner/tasks', taskId, 'tree', name), 'utf8').catch(() => null),
    ),
  )

describe('finding 2: after a turn', () => {
  // Holds findings 1.5.
  test('finding 2: nothing of what the agent left behind runs, and what was recorded stays as it was', async () => {
    const { ada, projectId } = scene
    const { id } = await ada.task(projectId, 'Leave something behind')
    const ended = await ada.taskOnce(id, hasEnded)
    expect(ended).toMatchObject({ status: 'completed' })
    expect(await ours()).toEqual([])
    const before = await contentsOf(id)
    expect(before.slice(0, 4)).not.toContain(null)

    // As long as it takes the agent to begin a turn, and longer than any of them slept.
    await ada.ask(executeTask, { params: { taskId: id }, body: { command: 'sleep 0.3' } })
    await ada.taskOnce(id, (now) => hasEnded(now) && now.execution?.turn === 2)
    expect(await contentsOf(id)).toEqual(before)
  })

  test('finding 2: the agent that waits stands still, and goes on with the next message', async () => {
    const { ada, projectId, product } = scene
    const { id } = await ada.task(projectId, 'Write it')
    await ada.taskOnce(id, hasEnded)
    const agents = await agentsOf(product)
    const states = await Promise.all(agents.map(stateOf))
    expect(new Set(states)).toEqual(new Set(['T']))
    await ada.ask(sendMessage, { params: { taskId: id }, body: { message: 'Write it again' } })
    const again = await ada.taskOnce(id, (now) => hasEnded(now) && now.execution?.turn === 2)
    expect(again).toMatchObject({ status: 'completed' })
    expect(await agentsOf(product)).toEqual(agents)
  })

  test('finding 2: a command leaves no daemon behind', async () => {
    const { ada, projectId } = scene
    const { id } = await ada.task(projectId, 'Write it')
    await ada.taskOnce(id, hasEnded)
    const command = `${stubborn.join('\n')}\n${written}`
    await ada.ask(executeTask, { params: { taskId: id }, body: { command } })
    await ada.taskOnce(id, (now) => hasEnded(now) && now.execution?.turn === 2)
    expect(await ours()).toEqual([])
    const { data } = await ada.ask(getTaskDiff, { params: { taskId: id } })
    expect(data.changedFiles.map(({ fileName }) => fileName)).toContain('session')
  })
})
