/** What folders take on the disk, by `du`: in a process of its own, whatever lies in them. */
import { statfs } from 'node:fs/promises'
import { run } from '../process.ts'

const measuresForMs = 60_000

/** Bytes that folders take on the disk. One that is going away meanwhile counts as far as it was seen. */
export async function sizesOf(
  dirs: readonly string[],
  path: string,
  timeoutMs = 2 * measuresForMs,
): Promise<ReadonlyMap<string, number>> {
  return (await measured(dirs, path, timeoutMs)).sizes
}

/** Bytes that one folder takes; `unknown` when there was too much in it to be counted within a minute. */
export async function sizeOf(dir: string, path: string): Promise<number | 'unknown'> {
  const { sizes, isWhole } = await measured([dir], path, measuresForMs)
  return isWhole ? (sizes.get(dir) ?? 0) : 'unknown'
}

async function measured(dirs: readonly string[], path: string, timeoutMs: number) {
  if (dirs.length === 0) return { sizes: new Map<string, number>(), isWhole: true }
  const { stdout, endedBy } = await run('du', ['-s', '-k', '--', ...dirs], {
    env: { PATH: path, LC_ALL: 'C.UTF-8' },
    timeoutMs,
    // What it cannot read it complains of, path by path: that is not kept.
    maxOutputBytes: 4 * 1024 ** 2,
  })
  const lines = stdout.toString('utf8').split('\n')
  const sizes = new Map(
    lines.flatMap((line) => {
      const [, kilobytes, dir] = /^(\d+)\t(.*)$/.exec(line) ?? []
      return kilobytes === undefined || dir === undefined ? [] : [[dir, Number(kilobytes) * 1_024] as const]
    }),
  )
  return { sizes, isWhole: endedBy === 'itself' }
}

/** What an ordinary process may still write on the file system of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Bytes in words, of 10^9: `5 GB`, `0.05 GB`. */
export function inGigabytes(bytes: number): string {
  return `${Number((bytes / 1e9).toFixed(3))} GB`
}
