/** The machine on which figures were measured, without which figures mean nothing. */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

export interface Machine {
  readonly cores: number
  readonly processor: string
  /** The memory, in units of 10^9 bytes. */
  readonly memoryGigabytes: number
  readonly node: string
  readonly platform: string
  /** The load average of the last minute before the bench: with other work on the machine, figures mean less. */
  readonly loadAverage: number
}

export function thisMachine(): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGigabytes: Math.round(totalmem() / 1e9),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    loadAverage: loadavg()[0] ?? 0,
  }
}
