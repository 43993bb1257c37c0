/** The product on the seeded data folder. */
import { startProduct } from '../product.ts'
import { openClient, type Client } from './load.ts'
import type { Scene, Seeded } from './row.ts'

/** A bench makes requests as fast as it can. */
export const withoutLimits = { REQUESTS_PER_MINUTE: '0' }

/** Starts the product, with a client that makes requests as the seeded person. */
export async function openSeededProduct(scene: Scene): Promise<{ client: Client; seeded: Seeded }> {
  const seeded = await scene.seeded()
  const product = await startProduct({ dataDir: seeded.dataDir, env: withoutLimits })
  scene.atEnd(() => product.stop())
  const client = openClient(product.base, seeded.token)
  scene.atEnd(async () => client.close())
  return { client, seeded }
}
