/** The built product, in a folder whose name an address would write in another way. */
import { cp, mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { discard, serverEntry } from '../product/server.ts'
import { ownFolder, startProduct, type Product } from '../product.ts'

let folder = ''
let product: Product
beforeAll(async () => {
  folder = await ownFolder()
  const dist = dirname(dirname(serverEntry))
  const copy = join(folder, 'a b é # 100%41')
  await mkdir(copy)
  // Other servers may be writing the code cache beside the bundle.
  const filter = (path: string) => !/\.cache(\.\d+)?$/.test(path)
  for (const part of ['server', 'web'])
    await cp(join(dist, part), join(copy, 'dist', part), { recursive: true, filter })
  await symlink(join(dirname(dist), 'node_modules'), join(copy, 'node_modules'))
  product = await startProduct({ entry: join(copy, 'dist/server/main.js') })
})
afterAll(async () => {
  await product?.stop()
  await discard(folder)
})

test('serves its client and the program that checks bundles', async () => {
  const page = await fetch(product.base)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="root"')])
  expect((await fetch(`${product.base}/flightdeck-verify.mjs`)).status).toBe(200)
})
