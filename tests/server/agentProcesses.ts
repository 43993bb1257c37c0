/** The running agents of a product, as the host sees them. */
import { patienceMs } from '../patience.ts'
import type { AnyProduct } from '../product.ts'

const withinMs = patienceMs

export async function agentsOf(product: AnyProduct): Promise<readonly number[]> {
  const found = await product.processes()
  return found.filter(({ command }) => command.startsWith('/opt/agent/agent ')).map(({ pid }) => pid)
}

/** The agents once they match; throws an error that lists them when they do not in time. */
export async function agentsOnce(
  product: AnyProduct,
  isSo: (pids: readonly number[]) => boolean,
): Promise<readonly number[]> {
  for (const end = Date.now() + withinMs; ;) {
    const pids = await agentsOf(product)
    if (isSo(pids)) return pids
    if (Date.now() > end) throw new Error(`Agents that are there: ${pids.join(', ') || 'none'}.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
