/** Everything that a process in a sandbox can reach, read from outside: its files, its environment and its memory. */
import { open, readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Whether the bytes contain a secret. */
type FindIn = (bytes: Buffer) => boolean

/** Folders of a sandbox that belong to the system, or that are searched in other ways. */
const passedOver = new Set(['proc', 'sys', 'dev', 'usr', 'lib', 'lib64', 'bin', 'sbin'])
/** The agents' programs are larger, and contain only what their makers put in. */
const largestFile = 64 * 1024 * 1024

/** The paths, as the sandbox of `pid` sees them, of the files that match, and how many files were read. */
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
    // For a mount, the folder's entry says on what it is mounted and not what is mounted: that may be a pipe.
    return facts?.isFile() && facts.size <= largestFile ? await file?.readFile() : undefined
  } finally {
    await file?.close()
  }
}

/** A name for the root folder of a process, by which it differs from others; `undefined` once the process has ended. */
export async function rootOf(pid: number | 'self'): Promise<string | undefined> {
  const root = await stat(`/proc/${pid}/root/`).catch(() => undefined)
  return root && `${root.dev}:${root.ino}`
}

/** What `/proc` reveals about a process: its arguments, its environment, and what its descriptors lead to. */
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
/** The number of pages that are read at a time. */
const pagesAtOnce = 1_024

/**
 * Whether the memory that a process can write to matches, and how many bytes of it were read. Only existing pages are read, since programs reserve
 * far more than they use.
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
  // The highest bit says that the page is in memory, and the next bit that it was swapped out.
  for (let at = 7; at < bytesRead; at += 8) if ((entries[at] ?? 0) >= 0x40) present += 1
  return present
}
