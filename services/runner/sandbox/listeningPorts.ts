/** The TCP ports on which processes of a sandbox listen, as Linux reports them. */
import { readdir, readFile, readlink } from 'node:fs/promises'
import { processTree } from './processTree.ts'

export interface ListeningPort {
  readonly port: number
  /** The name of a process that listens; `null` when it is not known. Any process can take any name. */
  readonly process: string | null
}

const maxPorts = 64
/** How many file descriptors are inspected at most, for all processes together. */
const maxDescriptors = 20_000
const longestName = 32

/**
 * The ports on which processes listen in the network of the process `first`, at most 64. With `isShared`, the whole machine has this network, and
 * only ports of the processes below `roots` count.
 */
export async function listeningPorts(
  first: number,
  roots: readonly number[],
  isShared = false,
): Promise<readonly ListeningPort[]> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => read(`/proc/${first}/net/${name}`)))
  const sockets = new Map(tables.flatMap((table) => [...table.matchAll(listening)].map(portOf)))
  if (sockets.size === 0) return []
  const names = await namesOf(new Set(sockets.keys()), roots)
  const found = new Map<number, string | null>()
  for (const [inode, port] of sockets) {
    const process = names.get(inode) ?? null
    if ((!isShared || process !== null) && (found.get(port) ?? null) === null) found.set(port, process)
  }
  return [...found]
    .map(([port, process]) => ({ port, process }))
    .sort((one, other) => one.port - other.port)
    .slice(0, maxPorts)
}

/** A line of /proc/net/tcp about a listening socket: its port in hexadecimal digits, and its inode. */
const listening = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) \S+ 0A \S+ \S+ \S+ +\d+ +\d+ (\d+) /gm

function portOf([, port = '', inode = '']: RegExpMatchArray): readonly [string, number] {
  return [inode, Number.parseInt(port, 16)]
}

async function namesOf(
  inodes: ReadonlySet<string>,
  roots: readonly number[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  let left = maxDescriptors
  for (const pid of (await Promise.all(roots.map(processTree))).flat()) {
    const opened = (await readdir(`/proc/${pid}/fd`).catch(() => [])).slice(0, left)
    left -= opened.length
    const targets = await Promise.all(opened.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')))
    for (const target of targets) {
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1]
      if (inode === undefined || !inodes.has(inode) || names.has(inode)) continue
      names.set(inode, printable(await read(`/proc/${pid}/comm`)))
    }
  }
  return names
}

/** The name without characters that could change how a line is shown. */
function printable(name: string): string {
  return name.replaceAll(/[^\x20-\x7e]/g, '').slice(0, longestName)
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
