/** Samples of a soak, taken at regular intervals: memory, handles and files of each part, and latencies. Linux only. */
import { readdir, readFile } from 'node:fs/promises'
import { percentile } from '../statistics.ts'
import type { Part } from './parts.ts'

/** A measured quantity of one thing over time; `value` is missing while the thing is down. */
export interface Curve {
  readonly quantity: 'memory' | 'handles' | 'files' | 'command' | 'output'
  readonly of: string
  readonly points: { readonly minute: number; readonly value: number }[]
}

export interface Latencies {
  readonly command: readonly number[]
  readonly output: readonly number[]
}

export interface Sampler {
  readonly curves: readonly Curve[]
  sample(minute: number, latencies: Latencies): Promise<void>
}

export function sampler(parts: readonly Part[]): Sampler {
  const curves = new Map<string, Curve>()
  const add = (quantity: Curve['quantity'], of: string, minute: number, value: number | undefined) => {
    if (value === undefined) return
    const curve = curves.get(`${quantity} ${of}`) ?? { quantity, of, points: [] }
    curves.set(`${quantity} ${of}`, curve)
    curve.points.push({ minute, value })
  }
  return {
    get curves() {
      return [...curves.values()]
    },
    async sample(minute, latencies) {
      for (const { name, pid, folder } of parts) {
        add('memory', name, minute, await memoryOf(pid()))
        add('handles', name, minute, await handlesOf(pid()))
        if (folder !== null) add('files', name, minute, await filesIn(folder))
      }
      for (const quantity of ['command', 'output'] as const) {
        const times = latencies[quantity]
        if (times.length === 0) continue
        add(quantity, 'p50', minute, percentile(times, 0.5))
        add(quantity, 'p99', minute, percentile(times, 0.99))
      }
    },
  }
}

/** Resident memory in MB of 10^6 bytes; `undefined` when the process has ended. */
async function memoryOf(pid: number | undefined): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kibibytes === undefined ? undefined : (Number(kibibytes) * 1_024) / 1e6
}

/** `undefined` when the process has ended: it has no handles then, even if it is still listed. */
async function handlesOf(pid: number | undefined): Promise<number | undefined> {
  const handles = await readdir(`/proc/${pid}/fd`).catch(() => [])
  return handles.length || undefined
}

/** `undefined` when the folder changed while its files were counted. */
async function filesIn(folder: string): Promise<number | undefined> {
  const names = await readdir(folder, { recursive: true }).catch(() => undefined)
  return names?.length
}
