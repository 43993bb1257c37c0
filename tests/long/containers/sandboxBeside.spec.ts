/** A server that runs in a container of the product's own image, and makes its sandboxes as further containers of the same engine. */
import { chown, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getNotices } from '#domain/api/server.schema.ts'
import { executeTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import type { Person } from '../../product/person.ts'
import { freePortsFor } from '../../freePorts.ts'
import { discard, ownFolder } from '../../product/server.ts'
import { signingIn } from '../../product.ts'
import { eventually } from '../../server/engines.ts'
import { hasEnded, watching } from '../../server/scene.ts'
import { sandboxEngine } from '../../containers/sandboxEngine.ts'
import { docker, productImages } from '../../containers/images.ts'

const found = await sandboxEngine()
const missing = 'missing' in found ? found.missing : undefined
const socketPath = 'missing' in found ? '' : found.socketPath
const runMs = 120_000
/** The user `node` of the image. */
const user = 1000

describe.skipIf(missing !== undefined)(
  `a server in a container with its sandboxes beside it${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let folder = ''
    let id = ''
    let ada: Person
    let taskId = ''
    let image = ''
    // Of this image no other suite makes sandboxes.
    const sandboxes = async () =>
      (
        await docker('ps', '-aq', '--filter', 'label=flightdeck.runner', '--filter', `ancestor=${image}`)
      ).trim()

    beforeAll(async () => {
      image = (await productImages()).runner
      folder = await ownFolder()
      for (const made of ['data', 'data/tmp']) {
        await mkdir(join(folder, made))
        await chown(join(folder, made), user, user)
      }
      const [port = 0, codeHostPort = 0] = await freePortsFor(2)
      const variables = {
        HOST: '127.0.0.1',
        PORT: String(port),
        CODEHOST_PORT: String(codeHostPort),
        CODEHOST_HOST: '0.0.0.0',
        SANDBOX: 'container',
        CONTAINER_HOST: 'unix:///run/engine.sock',
        CONTAINER_IMAGE: image,
        CONTAINER_PATHS: `/data=${join(folder, 'data')}`,
        TMPDIR: '/data/tmp',
      }
      const confined = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--init']
      const group = String((await stat(socketPath)).gid)
      const shared = ['-v', `${socketPath}:/run/engine.sock`, '-v', `${join(folder, 'data')}:/data`]
      const environment = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`])
      id = (
        await docker(
          'run',
          '-d',
          '--network',
          'host',
          '--group-add',
          group,
          ...confined,
          ...shared,
          ...environment,
          image,
        )
      ).trim()
      const base = `http://127.0.0.1:${port}`
      await eventually('it serves', async () => (await docker('logs', id)).includes('is ready: '))
      ada = await signingIn(base)('ada')
    }, 1_800_000)
    afterAll(async () => {
      if (id !== '') await docker('rm', '--force', id)
      await discard(folder)
    })

    test('runs an agent in one', async () => {
      const { notices } = await ada.ask(getNotices)
      expect(notices).toEqual([expect.stringContaining('scripted model')])
      const projectId = await ada.project('sample')
      taskId = (await ada.task(projectId, 'Look around')).id
      const ended = await ada.taskOnce(taskId, hasEnded, runMs)
      expect(ended).toMatchObject({ status: 'completed', failure: null })
      const { data } = await ada.ask(getTaskDiff, { params: { taskId } })
      expect(data.changedFiles[0]).toMatchObject({ fileName: 'FLIGHTDECK.md', status: 'added' })
    })

    test('and a command, which sees neither the engine nor the data nor the environment of the server', async () => {
      const live = await watching(ada, taskId)
      const command =
        'pwd; ls -A /data; ls /run/engine.sock; env | grep -c CONTAINER_; cat /proc/net/dev | wc -l'
      await ada.ask(executeTask, { params: { taskId }, body: { command } })
      await live.until('its end', ({ name }) => name === 'command_completed', runMs)
      const said = live.of('command_output').flatMap((one) => (one.type === 'stdout' ? [one.output] : []))
      // Of the network two lines of heading, and loopback.
      expect(said.join('')).toMatch(/^\/workspace\n0\n3\n/m)
      live.close()
      await ada.taskOnce(taskId, hasEnded)
    })

    test('and leaves none when it is killed', async () => {
      expect(await sandboxes()).not.toBe('')
      await docker('kill', id)
      await eventually('none is left', async () => (await sandboxes()) === '')
    })
  },
)
