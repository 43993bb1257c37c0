/** `docker compose up` with `--scale gateway=2 --scale runner=3`: everything in docker-compose.yml starts, and the main job works with it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { executeTask, getTask, listTasks } from '#domain/api/tasks.schema.ts'
import { personWith, type Person } from '../../product/person.ts'
import { signingIn } from '../../product.ts'
import { note } from '../../report/notes.ts'
import { eventually } from '../../server/engines.ts'
import { hasEnded, watching } from '../../server/scene.ts'
import { compose } from '../../servers/compose.ts'
import { noContainers } from '../../servers/containers.ts'
import { composeUp, type ComposeStack } from '../../containers/composeStack.ts'
import { docker, productImages } from '../../containers/images.ts'
import { mainJob } from '../../containers/mainJob.ts'

const found = await compose()
const missing = (await noContainers()) ?? ('missing' in found ? found.missing : undefined)
if (missing !== undefined && process.env['REQUIRE_CONTAINERS'] === '1')
  throw new Error(`REQUIRE_CONTAINERS=1 and there is ${missing}.`)
const buildMs = 1_800_000

const Mounts = z.array(z.object({ Type: z.string(), Name: z.string().optional(), Destination: z.string() }))

describe.skipIf(missing !== undefined)(
  `docker compose up${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let stack: ComposeStack
    let ada: Person
    const at = (index: number) => stack.gateways[index] ?? ''

    const volumeOf = async (container: string) => {
      const mounts = Mounts.parse(
        JSON.parse(await docker('inspect', '--format', '{{json .Mounts}}', container)),
      )
      return mounts.find(({ Destination }) => Destination === '/data')?.Name
    }

    beforeAll(async () => {
      if ('missing' in found) throw new Error(found.missing)
      stack = await composeUp(found, await productImages(), { gateway: 2 })
      note('docker compose up: the code host', 'the local code host, not GitHub')
    }, buildMs)
    afterAll(() => stack?.down(), 300_000)

    test('both gateways are up', async () => {
      expect(new Set(stack.gateways).size).toBe(2)
      for (const base of stack.gateways)
        expect(await (await fetch(`${base}/readyz`)).json()).toMatchObject({ ready: true })
    })

    test('the log is sealed, in a file on a volume of its own', async () => {
      const [command = ''] = await stack.containersOf('command')
      const sealed = () => docker('exec', command, 'cat', '/seals/seals.ndjson').catch(() => '')
      await expect.poll(sealed, { interval: 1_000 }).toContain('"checkpoint"')
    })

    // Asked at one gateway, watched at the other.
    mainJob(() => ({
      signIn: async () => (ada = await signingIn(at(0))('ada')),
      watcher: (person) => personWith(at(1), person.token),
      pageAt: (url) => url,
    }))

    test('of three runners, each with a volume of its own, one has each task, and one that is stopped is not missed', async () => {
      await stack.scale({ gateway: 2, runner: 3 })
      const runners = await stack.containersOf('runner')
      expect(new Set(await Promise.all(runners.map(volumeOf))).size).toBe(3)
      const { tasks } = await ada.ask(listTasks)
      const projectId = tasks[0]?.projectId ?? ''
      const done = async (description: string) => {
        const { id } = await ada.task(projectId, description)
        const ended = await ada.taskOnce(id, hasEnded, 240_000)
        expect(ended).toMatchObject({ status: 'completed', failure: null })
        return id
      }
      const ids = await Promise.all(
        ['first', 'second', 'third'].map((name) => done(`Look for the ${name} time`)),
      )
      const holders = async (taskId: string) => {
        const held = await Promise.all(
          runners.map((runner) => docker('exec', runner, 'sh', '-c', 'ls /data/runner/tasks || true')),
        )
        return runners.filter((_, index) => held[index]?.includes(taskId))
      }
      const byTask = await Promise.all(ids.map(holders))
      expect(byTask.map((those) => those.length)).toEqual([1, 1, 1])

      const [stopped = ''] = byTask[0] ?? []
      await docker('stop', '--time', '14', stopped)
      await done('Look without one of three')
      await docker('start', stopped)
    }, 600_000)

    test('what was done to a task is there for its next turns, however many runners there are', async () => {
      const { tasks } = await ada.ask(listTasks)
      const params = { taskId: tasks.at(-1)?.id ?? '' }
      const ends: string[] = []
      for (let turn = 1; turn <= 4; turn += 1) {
        const live = await watching(personWith(at(1), ada.token), params.taskId)
        const command = `test -s FLIGHTDECK.md && echo ${turn} >> turns && test $(wc -l < turns) = ${turn}`
        await ada.ask(executeTask, { params, body: { command } })
        const { name } = await live.until(
          'its end',
          ({ name }) => /^command_(completed|failed)$/.test(name),
          60_000,
        )
        ends.push(name)
        await ada.taskOnce(params.taskId, hasEnded)
        live.close()
      }
      expect(ends).toEqual(Array.from({ length: 4 }, () => 'command_completed'))
    })

    test('a gateway that is stopped is not missed: the other shows the same, and runs go on', async () => {
      const [one = ''] = await stack.containersOf('gateway')
      const portOf = async () => `http://${(await docker('port', one, '8080')).trim()}`
      const gone = stack.gateways.indexOf(await portOf())
      await docker('stop', '--time', '14', one)
      const there = personWith(at(1 - gone), ada.token)
      const { tasks } = await there.ask(listTasks)
      expect(tasks).toHaveLength(5)
      const again = await there.task(tasks[0]?.projectId ?? '', 'Look once more')
      expect(await there.taskOnce(again.id, hasEnded, 120_000)).toMatchObject({ status: 'completed' })
      await docker('start', one)
      // It may come back at another port of the range.
      const base = await portOf()
      const isReady = async () => (await fetch(`${base}/readyz`).catch(() => undefined))?.ok === true
      await eventually('ready again', isReady)
      const { task } = await personWith(base, ada.token).ask(getTask, { params: { taskId: again.id } })
      expect(task.status).toBe('completed')
    })

    test('a browser that polls must stay with its gateway: the other does not know it', async () => {
      const urls = await Promise.all(
        [1, 2].map(async (index) =>
          (await stack.compose('port', '--index', String(index), 'gateway', '8080')).trim(),
        ),
      )
      const [own, other] = urls.map((address) => `http://${address}/socket.io/?EIO=4&transport=polling`)
      const [, sid = ''] = /"sid":"([^"]+)"/.exec(await (await fetch(`${own}`)).text()) ?? []
      const connect = (base: string | undefined) =>
        fetch(`${base}&sid=${sid}`, { method: 'POST', body: `40${JSON.stringify({ token: ada.token })}` })
      expect((await connect(other)).status).toBe(400)
      expect((await connect(own)).status).toBe(200)
      const heard = await (await fetch(`${own}&sid=${sid}`)).text()
      expect(heard).toMatch(/^40\{"sid":/)
    })
  },
)
