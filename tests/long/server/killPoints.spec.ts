/** kill -9 between any two steps of any command: what was accepted is there, and nothing is there twice. */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { note } from '../../report/notes.ts'
import { ownFolder } from '../../product.ts'
import { kindsOf, scripts } from '../../server/faults/kinds.ts'
import { openKilling, type Killing } from '../../server/faults/killing.ts'
import { openScene, type Scene } from '../../server/scene.ts'
import { brokenChains, openStored, readModels } from '../../server/stored.ts'

let scene: Scene
let killing: Killing
let folder = ''
beforeAll(async () => {
  folder = await ownFolder()
  killing = openKilling(folder)
  const limits = { REQUESTS_PER_MINUTE: '0', TASKS_AT_ONCE: '1000' }
  scene = await openScene(scripts, { ...killing.options, env: { ...killing.options.env, ...limits } })
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

test('every kind of command has its effect, once, wherever the server was killed', async () => {
  let count = 0
  for (const kind of kindsOf(scene)) {
    const points = await killing.everywhere(scene, kind)
    count += points.length
    const begun = points.filter((point) => point.startsWith('after events.sqlite'))
    expect(begun.length, `${kind.name} writes to the log`).toBeGreaterThan(0)
  }
  note('kill -9 between any two steps of a command', `${count} kills before and after writes to SQLite`)

  await scene.product.terminate()
  const stored = await openStored(scene.product.dataDir)
  try {
    expect(await brokenChains(stored)).toEqual([])
    const { kept, rebuilt } = await readModels(stored)
    expect(kept).toBe(rebuilt)
  } finally {
    await stored.close()
  }
})
