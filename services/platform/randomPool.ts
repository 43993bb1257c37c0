/** Random bytes for salts and initialization vectors. */
import { randomFillSync } from 'node:crypto'

const pool = Buffer.allocUnsafeSlow(4_096)
let used = pool.length

/** Returns `count` random bytes, at most 64. The system is asked for thousands at a time, which is cheaper, and no byte is returned twice. */
export function takeRandom(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const taken = Buffer.from(pool.subarray(used, used + count))
  used += count
  return taken
}
