/** What processes use, as the kernel counts it: processor time and memory. Linux only. */
import { readFile } from 'node:fs/promises'

/** The kernel counts processor time in ticks of this many milliseconds. */
const tickMs = 10

/** The processor time of a process in milliseconds; with that of its children that have ended, if asked for. 0 for one that is gone. */
export async function processorMs(pid: number, { withEnded = false } = {}): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name of the program, in parentheses, may contain spaces. The times are the fields 14 to 17.
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number)
  return (user + system + (withEnded ? endedUser + endedSystem : 0)) * tickMs
}

/** The memory of a process in MB of 10^6 bytes, where memory that it shares with others is divided among them. */
export async function ownMegabytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  const kibibytes = /^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]
  return (Number(kibibytes ?? 0) * 1_024) / 1e6
}
