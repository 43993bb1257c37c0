/** Damages the stored data of a product, and runs its operator's commands. */
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { runProduct, type FailedStart, type Product } from '../product.ts'

export const operatorEnv = { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'error' }

/** Runs an operator's command on the product's data folder, whether or not the product runs. */
export const operateOn = (
  { dataDir }: Pick<Product, 'dataDir'>,
  ...words: readonly string[]
): Promise<FailedStart> => runProduct(operatorEnv, [...words, '--data', dataDir])

/** Makes the data of a stored event invalid JSON; calling the result restores it. */
export const cutShort = (product: Pick<Product, 'dataDir'>, stream: string, revision: number): (() => void) =>
  rewrite(product, { stream, revision }, (text) => `${text.slice(0, -1)}\u001b[2J`)

/** Stores other data for an event; calling the result restores the original. */
export function rewrite(
  { dataDir }: Pick<Product, 'dataDir'>,
  { stream, revision }: { readonly stream: string; readonly revision: number },
  change: (text: string) => string,
): () => void {
  const write = (data: (before: string) => string): string => {
    const db = new DatabaseSync(join(dataDir, 'events.sqlite'), { timeout: 5_000 })
    try {
      const at = [stream, revision]
      const { data: before } = db
        .prepare('SELECT data FROM events WHERE stream = ? AND revision = ?')
        .get(...at) as { data: string }
      db.prepare('UPDATE events SET data = ? WHERE stream = ? AND revision = ?').run(data(before), ...at)
      return before
    } finally {
      db.close()
    }
  }
  const before = write(change)
  return () => void write(() => before)
}

/** What the product reports about its health. */
export async function readyz({ base }: Pick<Product, 'base'>): Promise<{ status: number; text: string }> {
  const response = await fetch(`${base}/readyz`)
  return { status: response.status, text: await response.text() }
}
