/** Kills the server between any two steps of some kinds of commands: everything that was accepted is stored, and nothing is stored twice. */
import { rm } from 'node:fs/promises'
import { afterAll, expect, test } from 'vitest'
import { note } from '../../report/notes.ts'
import { ownFolder, type Product } from '../../product.ts'
import { openScene } from '../scene.ts'
import { brokenChains, openStoppedProduct, readModels } from '../stoppedProduct.ts'
import { openKilling, type Kind } from './killing.ts'
import { kindsOf, scripts } from './kinds.ts'

/** Registers a test for each kind that `isMeant`, and a test of the stored data after all of them. */
export async function testKillPoints(isMeant: (kind: Kind) => boolean): Promise<void> {
  const folder = await ownFolder()
  const killing = openKilling(folder)
  const limits = { REQUESTS_PER_MINUTE: '0', TASKS_AT_ONCE: '1000' }
  const scene = await openScene(scripts, { ...killing.options, env: { ...killing.options.env, ...limits } })
  afterAll(async () => {
    await scene.close()
    await rm(folder, { recursive: true, force: true })
  })

  let count = 0
  test.each(kindsOf(scene).filter(isMeant))(
    'to $name has its effect, once, wherever the server was killed',
    async (kind) => {
      const points = await killing.everywhere(scene, kind)
      count += points.length
      const begun = points.filter((point) => point.startsWith('after events.sqlite'))
      expect(begun.length, `${kind.name} writes to the log`).toBeGreaterThan(0)
    },
  )

  test('what is stored after all the kills is whole', async () => {
    note('kill -9 between any two steps of a command', `${count} kills before and after writes to SQLite`)
    const { broken, kept, rebuilt } = await storedBy(scene.product)
    expect(broken).toEqual([])
    expect(kept).toBe(rebuilt)
  })
}

/** Stops the product. Returns the breaks in its hash chains, and its read models both as they are stored and as the log alone gives them. */
export async function storedBy({ terminate, dataDir }: Product) {
  await terminate()
  const stored = await openStoppedProduct(dataDir)
  try {
    return { broken: await brokenChains(stored), ...(await readModels(stored)) }
  } finally {
    await stored.close()
  }
}
