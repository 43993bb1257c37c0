/** SANDBOX=auto on a machine that has a container engine and no bubblewrap: the product uses the engine by itself. */
import { mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { getNotices } from '#domain/api/server.schema.ts'
import { findProgram } from '../../../services/runner/sandbox/bubblewrap/findProgram.ts'
import { cleanEnvironment, ownFolder } from '../../product.ts'
import { note } from '../../report/notes.ts'
import { startEngineStandIn } from '../../standins/containerEngine.ts'
import { hasEnded, openScene } from '../../server/scene.ts'

beforeAll(() =>
  note('SANDBOX=auto', 'a container engine at the wire, whose containers are made with bubblewrap'),
)

test('without bubblewrap the product builds its image on the engine that is there, and runs agents in its containers', async ({
  skip,
}) => {
  const folder = await ownFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = cleanEnvironment(folder)['PATH'] ?? ''
  const bubblewrap = await findProgram('bwrap', path)
  if (bubblewrap === undefined) return skip('no bubblewrap')
  const socket = join(folder, 'engine.sock')
  const engine = await startEngineStandIn(socket, bubblewrap)
  onTestFinished(() => engine.close())

  const env = { PATH: await withoutBubblewrap(path, join(folder, 'bin')), CONTAINER_HOST: `unix://${socket}` }
  const scene = await openScene([], { env, model: 'scripted' })
  onTestFinished(() => scene.close())
  const { ada, projectId, product } = scene

  expect(product.logs.stdout + product.logs.stderr).toContain('Building the image for sandboxes')
  expect(engine.built).toEqual([expect.stringMatching(/^flightdeck\/sandbox:[0-9a-f]{12}$/)])
  const { notices } = await ada.ask(getNotices)
  expect(notices.filter((notice) => notice.startsWith('There is no sandbox'))).toEqual([])
  expect(await runnerDetails(product.base)).toContainEqual(
    expect.stringMatching(
      /^Sandboxes are containers of Docker 0\.0\.0-stand-in\. bubblewrap is not installed\./,
    ),
  )

  const before = engine.mounts.length
  const { id } = await ada.task(projectId, 'Begin')
  expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  expect(engine.mounts.slice(before).flat()).toContainEqual(expect.stringMatching(/^\/opt\/agent/))
})

/** A PATH with all programs of another but bubblewrap. */
async function withoutBubblewrap(path: string, folder: string): Promise<string> {
  await mkdir(folder)
  for (const dir of path.split(':')) {
    const names = await readdir(dir).catch(() => [])
    // The first that has a name is the one that is found.
    for (const name of names.filter((each) => each !== 'bwrap'))
      await symlink(join(dir, name), join(folder, name)).catch(() => undefined)
  }
  return folder
}

async function runnerDetails(base: string): Promise<readonly string[]> {
  const ready = await fetch(`${base}/readyz`)
  const { details } = z
    .looseObject({ details: z.record(z.string(), z.array(z.string())) })
    .parse(await ready.json())
  return details['runner'] ?? []
}
