/** Services of a project: processes beside the agent in its sandbox, which outlive its turns and end with the sandbox. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BodyInputOf } from '#domain/api/call.schema.ts'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import {
  getProjectSettings,
  setProjectSecret,
  updateProjectSettings,
} from '#domain/api/projectSettings.schema.ts'
import { deleteTask, type Task } from '#domain/api/tasks.schema.ts'
import { patienceMs } from '../patience.ts'
import { eventually } from './engines.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const secret = 'swordfish-of-the-database'
const bash = (command: string) => [
  { tools: [{ name: 'Bash', input: { command, description: 'Work' } }] },
  { text: 'Done.' },
]
const server = `require('http').createServer((_, answer) => answer.end('I am ' + process.pid)).listen(5173, () => console.log('up with', process.env.PASSWORD, process.env.STAGE, process.env.HIDDEN))`
const web = { name: 'web', command: `node -e "${server}"`, readyPort: 5173 }
const waits = {
  name: 'waits',
  command: 'until [ -e go.txt ]; do sleep 0.1; done; echo between the turns; touch went.txt; sleep 1000',
}
const fails = { name: 'fails', command: 'echo no disk >&2; exit 3', readyPort: 5999 }
/** On which the sandbox reaches the hosts that the project allows. */
const relayPort = 31_280
const squatter = `require('net').createServer().on('error', ({ code }) => console.log('port', code)).listen(${relayPort}, '127.0.0.1')`
const hostile = [
  { name: 'squatter', command: `node -e "${squatter}"; touch squatted.txt; sleep 8640` },
  { name: 'orphan', command: 'setsid sleep 8641 & touch orphaned.txt; exit 0' },
  { name: 'killer', command: 'kill -9 $PPID; touch killed.txt; sleep 8642' },
  { name: 'bomb', command: 'for n in $(seq 300); do sleep 8643 & done; touch bombed.txt; wait' },
]
const floods = { name: 'floods', command: 'yes flooding | head -c 1000000; touch flooded.txt; sleep 1000' }

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    { when: /Ask the server/, turns: bash('curl -s localhost:5173') },
    { when: /Wait for the flood/, turns: bash('until [ -e flooded.txt ]; do sleep 0.1; done') },
    {
      when: /Wait for the hostile/,
      // Each has done its worst, and what one left behind is gone.
      turns: bash(
        'for file in squatted orphaned killed bombed; do until [ -e $file.txt ]; do sleep 0.1; done; done; while pgrep -f "sleep 864[1]"; do sleep 0.1; done; pgrep -c -f 8643',
      ),
    },
    { when: /Work/, turns: [{ text: 'Done.' }] },
  ])
  const { ada, projectId } = scene
  const secretOf = (name: string, value: string, forAgent: boolean) =>
    ada.ask(setProjectSecret, { params: { projectId, name }, body: { value, forAgent } })
  await secretOf('PASSWORD', secret, true)
  await secretOf('HIDDEN', 'trout-of-nobody-else', false)
})
afterAll(() => scene?.close())

const params = () => ({ projectId: scene.projectId })
type Services = NonNullable<BodyInputOf<typeof updateProjectSettings>['services']>
const choose = (services: Services) =>
  scene.ada.ask(updateProjectSettings, { params: params(), body: { services: [...services] } })
async function begin(message: string): Promise<Task> {
  const { id } = await scene.ada.task(scene.projectId, message)
  return scene.ada.taskOnce(id, hasEnded)
}
async function goOn({ id, execution }: Task, message: string, isCommand = false): Promise<Task> {
  const body = isCommand ? { isCommand, commandText: message } : { message }
  await scene.ada.ask(sendMessage, { params: { taskId: id }, body })
  const before = execution?.id
  return scene.ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.id !== before)
}
async function terminalOf({ id: taskId }: Task): Promise<string> {
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
  return output.map(({ content }) => content).join('')
}

describe('the settings', () => {
  // Attacks services: names with spaces, no command, a port that is none, the same name twice, too many.
  test('keep the services of a client that does not know them, and refuse what cannot be one', async () => {
    await choose([web, { name: 'worker', command: 'node worker.js' }])
    const services = [web, { name: 'worker', command: 'node worker.js', readyPort: null }]
    const { settings } = await scene.ada.ask(updateProjectSettings, {
      params: params(),
      body: { variables: [{ name: 'STAGE', value: 'test' }] },
    })
    expect(settings.services).toEqual(services)
    const refused = (services: Services) =>
      scene.ada.refused(updateProjectSettings, { params: params(), body: { services } })
    const field = async (one: Services[number]) => (await refused([one]))['field']
    expect(await field({ ...web, name: 'two words' })).toBe('services.0.name')
    expect(await field({ ...web, name: 'web\u001B[2J' })).toBe('services.0.name')
    for (const command of [' \n', 'node\0 web.js'])
      expect(await field({ ...web, command })).toBe('services.0.command')
    expect(await field({ ...web, readyPort: 70_000 })).toBe('services.0.readyPort')
    expect(await refused([web, web])).toMatchObject({ error: 'Two services have the same name.' })
    const many = Array.from({ length: 9 }, (_, at) => ({ ...web, name: `web${at}` }))
    expect(await refused(many)).toMatchObject({ status: 400, field: 'services' })
    expect((await scene.ada.ask(getProjectSettings, { params: params() })).settings.services).toEqual(
      services,
    )
  })

  // Attacks services: another person chooses the services of a project.
  test('are not chosen by somebody else', async () => {
    const grace = await scene.product.signIn('grace')
    const body = { services: [] }
    expect(await grace.refused(updateProjectSettings, { params: params(), body })).toMatchObject({
      status: 404,
    })
  })
})

// Attacks services: a service outlives its sandbox when the server is killed.
// Attacks services: a service reads a secret that is not for the agent.
test('they are there for the agent, outlive its turns, and end with the sandbox', async () => {
  await choose([web, waits, fails])
  const first = await begin('Ask the server')
  const early = await terminalOf(first)
  expect(early).toContain('The service web is ready on port 5173.\n')
  expect(early).toContain('The service waits runs.\n')
  expect(early).toContain(
    'The service fails is not ready: it ended with exit code 3. It is started again in the next turn. It printed last:\n    no disk\n',
  )
  expect(early).toMatch(/^\[web\] up with \S*redacted\S* test undefined$/im)
  expect(early).not.toContain(secret)
  const [, pid] = /I am (\d+)/.exec(early) ?? []
  expect(pid).toBeDefined()
  expect(JSON.stringify(scene.api.requests.map(({ body }) => body))).toContain(
    'keep running between your turns: web (port 5173 on localhost), waits, fails (port 5999 on localhost).',
  )

  const afterCommand = await goOn(first, 'touch go.txt; until [ -e went.txt ]; do sleep 0.1; done', true)
  expect(await terminalOf(afterCommand)).not.toContain('[waits] between the turns')
  const late = (await terminalOf(await goOn(afterCommand, 'Ask the server'))).slice(early.length)
  expect(late).toContain('[waits] between the turns\n')
  expect(late).toContain(`I am ${pid}`)
  expect(late).toContain('The service fails ended with exit code 3 and is started again.\n')
  expect(late).not.toContain('The service web')

  expect((await servers()).length).toBeGreaterThan(0)
  await scene.product.kill9()
  const end = Date.now() + patienceMs
  while ((await servers()).length > 0 && Date.now() < end) await new Promise((done) => setTimeout(done, 50))
  expect(await servers()).toEqual([])
  await scene.product.restart()
})

/** The processes of the service `web`. */
const servers = async () =>
  (await scene.product.processes()).filter(({ command }) => command.includes('createServer'))

test('one that prints without end is cut, and its last lines come with the next turn', async () => {
  await choose([floods])
  const task = await begin('Wait for the flood')
  const first = await terminalOf(task)
  expect(task.status).toBe('completed')
  expect(first).toContain(
    '[floods] It prints much: its last lines are shown at the beginning of the next turn.\n',
  )
  expect(first.length).toBeLessThan(600_000)
  const later = (await terminalOf(await goOn(task, 'Work'))).slice(first.length)
  expect(later).toMatch(/^\[floods\] Earlier lines are left out\.\n\[floods\] flooding\n/)
  expect(later.length).toBeLessThan(70_000)
})

// Attacks services: a service listens on the port of the relay to the proxy.
// Attacks services: a service leaves a process behind when it exits.
// Attacks services: a service ends the keeper that would end it, to outlive the turn.
// Attacks services: a service starts hundreds of processes.
test('hostile ones take no port of ours, and leave nothing', async () => {
  await scene.ada.ask(updateProjectSettings, { params: params(), body: { egress: ['example.org'] } })
  await choose(hostile)
  const task = await begin('Wait for the hostile ones')
  expect(task.status).toBe('completed')
  const terminal = await terminalOf(task)
  expect(terminal).toContain('[squatter] port EADDRINUSE\n')
  expect(terminal).toContain('[orphan] The service ended with exit code 0.\n')
  const left = async () =>
    (await scene.product.processes()).flatMap(({ command }) => /sleep (864[0-3])/.exec(command)?.[1] ?? [])
  // Those of services that keep running stay until the sandbox ends.
  await eventually('the others are gone', async () =>
    (await left()).every((seconds) => seconds === '8640' || seconds === '8643'),
  )
  await scene.ada.ask(deleteTask, { params: { taskId: task.id } })
  await eventually('nothing is left', async () => (await left()).length === 0)
})
