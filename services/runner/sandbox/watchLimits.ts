/** Reports when a sandbox's time is over, or when everything that runs in it uses too much memory. */
import type { Counted } from './bubblewrap/controlGroups.ts'
import { memoryOf, processTree } from './processTree.ts'
import type { SandboxLimits } from './port.ts'

/**
 * How often memory is checked. In a sandbox, the kernel limits the memory of each process. These checks limit the sum of all, unless a control group
 * does.
 */
const pollIntervalMs = 500
/** The pause after a check is at least this many times as long as the check. */
const pauseFactor = 10

export interface Watched {
  /** Returns the ids of the topmost processes. All other processes are below them. */
  readonly roots: () => readonly number[]
  /** Returns whether the memory is within the limit by the kernel's count. If that is `unknown`, the memory of the processes is added up. */
  readonly counted?: () => Promise<Counted>
}

/** Watches the memory and the time that a sandbox takes, until `stop` is called. `exceeded` may be called more than once. */
export function watchLimits(
  limits: Pick<SandboxLimits, 'memoryBytes' | 'wallMs'>,
  { roots, counted = async () => 'unknown' }: Watched,
  exceeded: (limit: 'time_limit' | 'memory_limit') => void,
): { stop(): void } {
  let isStopped = false
  let looking: NodeJS.Timeout | undefined
  const wall = setTimeout(exceeded, limits.wallMs, 'time_limit')
  const isTooMuch = async (): Promise<boolean> => {
    const memory = await counted()
    if (memory !== 'unknown') return memory === 'exceeded'
    const trees = await Promise.all(roots().map(processTree))
    return (await memoryOf(trees.flat())) > limits.memoryBytes
  }
  const look = async (): Promise<void> => {
    const begun = performance.now()
    if (await isTooMuch()) exceeded('memory_limit')
    const pause = Math.max(pollIntervalMs, (performance.now() - begun) * pauseFactor)
    if (!isStopped) looking = setTimeout(() => void look(), pause)
  }
  looking = setTimeout(() => void look(), pollIntervalMs)
  return {
    stop() {
      isStopped = true
      clearTimeout(wall)
      clearTimeout(looking)
    },
  }
}
