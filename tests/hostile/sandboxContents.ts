/** All that a process in a sandbox has within its reach, read from outside: its files, its environment and its memory. */
import { open, readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A secret that was found, and where. */
type FindIn = (bytes: Buffer) => boolean

/** Folders of a sandbox that are the system's own, or that are looked at by other means. */
const passedOver = new Set(['proc', 'sys', 'dev', 'usr', 'lib', 'lib64', 'bin', 'sbin'])
/** The agents' programs are larger, and hold what their makers put in. */
const largestFile = 64 * 1024 * 1024

/** The paths, as the sandbox of `pid` has them, of its files in which something is found; and how many were read. */
export async function filesWith(
  pid: number,
  findIn: FindIn,
): Promise<{ readonly found: readonly string[]; readonly read: number }> {
  const root = `/proc/${pid}/root`
  const found: string[] = []
  let read = 0
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name)
      if (folder === '/' && passedOver.has(entry.name)) continue
      if (entry.isDirectory()) await walk(path)
      if (!entry.isFile()) continue
      const bytes = await smallFile(join(root, path))
      if (bytes === undefined) continue
      read += 1
      if (findIn(bytes)) found.push(path)
    }
  }
  await walk('/')
  return { found, read }
}

async function smallFile(path: string): Promise<Buffer | undefined> {
  const file = await open(path, 'r').catch(() => undefined)
  try {
    const facts = await file?.stat()
    // A folder tells what a mount is on, and not what is mounted there: that may be a pipe.
    return facts?.isFile() && facts.size <= largestFile ? await file?.readFile() : undefined
  } finally {
    await file?.close()
  }
}

/** Tells the root folder of a process from those of others; `undefined` once it has ended. */
export async function rootOf(pid: number | 'self'): Promise<string | undefined> {
  const root = await stat(`/proc/${pid}/root/`).catch(() => undefined)
  return root && `${root.dev}:${root.ino}`
}

/** What `/proc` tells of a process: its arguments, its environment, and what its descriptors lead to. */
export async function toldInProc(pid: number): Promise<Buffer> {
  const at = `/proc/${pid}`
  const files = await Promise.all(
    ['cmdline', 'environ', 'mountinfo'].map((name) => readFile(join(at, name)).catch(() => Buffer.alloc(0))),
  )
  const descriptors = await readdir(join(at, 'fd')).catch(() => [])
  const links = await Promise.all(descriptors.map((name) => readlink(join(at, 'fd', name)).catch(() => '')))
  return Buffer.concat([...files, Buffer.from(links.join('\n'))])
}

const pageBytes = 4_096
/** At most so many pages are read at a time. */
const pagesAtOnce = 1_024

/**
 * Whether something is found in the memory that a process can write to, and how many bytes of it were read. Only pages that are
 * there are read: programs reserve far more than they use.
 */
export async function memoryWith(
  pid: number,
  findIn: FindIn,
): Promise<{ readonly found: boolean; readonly read: number }> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '')
  const memory = await open(`/proc/${pid}/mem`, 'r').catch(() => undefined)
  const pagemap = await open(`/proc/${pid}/pagemap`, 'r').catch(() => undefined)
  let read = 0
  let found = false
  try {
    if (!memory || !pagemap) return { found, read }
    for (const line of maps.split('\n')) {
      const [, from, to, flags = '', , , , name = ''] =
        /^([0-9a-f]+)-([0-9a-f]+) (\S+) (\S+) (\S+) (\S+) *(.*)$/.exec(line) ?? []
      if (from === undefined || to === undefined || !flags.startsWith('rw') || name === '[vvar]') continue
      const last = Number.parseInt(to, 16) / pageBytes
      for (let page = Number.parseInt(from, 16) / pageBytes; page < last; page += pagesAtOnce) {
        const count = Math.min(pagesAtOnce, last - page)
        const present = await presentPages(pagemap, page, count)
        if (present === 0) continue
        const bytes = Buffer.alloc(count * pageBytes)
        const { bytesRead } = await memory
          .read(bytes, 0, bytes.length, page * pageBytes)
          .catch(() => ({ bytesRead: 0 }))
        read += bytesRead
        found ||= findIn(bytes)
      }
    }
    return { found, read }
  } finally {
    await memory?.close()
    await pagemap?.close()
  }
}

async function presentPages(
  pagemap: Awaited<ReturnType<typeof open>>,
  from: number,
  count: number,
): Promise<number> {
  const entries = Buffer.alloc(count * 8)
  const { bytesRead } = await pagemap
    .read(entries, 0, entries.length, from * 8)
    .catch(() => ({ bytesRead: 0 }))
  let present = 0
  // The highest bit says that the page is in memory, the next that it was swapped out.
  for (let at = 7; at < bytesRead; at += 8) if ((entries[at] ?? 0) >= 0x40) present += 1
  return present
}
