/**
 * Packs the files that a setup left into archives, and unpacks them into other workspaces. Programs in the sandbox do both, as the user of the task:
 * the server itself never follows a path that code of a repository has made.
 */
import { open, type FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Bind, Sandbox, SandboxedProcess } from '../sandbox/port.ts'
import { commandLimits } from '../execution/runLimits.ts'
import { lastOf } from '../execution/recording/terminalOutput.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { filteredArchive, NotKept, type SecretSearch } from './archiveFilter.ts'
import { keptInHome, neverKept } from './setupFiles.ts'

/** How long packing or unpacking may take. */
const longestMs = 5 * 60_000

const packing = [
  '--create',
  '--file=-',
  '--format=gnu',
  // Two hard links to one file become two files, since one of them may be left out.
  '--hard-dereference',
  '--mode=ug-s',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--ignore-failed-read',
  '--warning=none',
]

export interface Packing {
  readonly sandbox: Sandbox
  readonly workspace: Workspace
  /** The path of the archive to write. */
  readonly to: string
  readonly search: SecretSearch
  /** Ends the packing early. */
  readonly signal: AbortSignal
  readonly leftOut: (name: string) => void
  /** Called before each write with the size that the archive then has. Throws `NotKept` when the archive must not get that large. */
  readonly mayWrite: (bytes: number) => void
  /** Creates the archive; a file on the disk by default. */
  readonly create?: (path: string) => Promise<Pick<FileHandle, 'writev' | 'sync' | 'close'>>
}

/** Packs `paths` of the tree, each ended by NUL, as git prints them. Returns the size of the archive. */
export function packTree(request: Packing, paths: Buffer): Promise<number> {
  const { sandbox, workspace } = request
  const from = ['--null', '--verbatim-files-from', '--files-from=-']
  return pack(request, ['tar', ...packing, '--directory', sandbox.paths(workspace).tree, ...from], paths)
}

/** Packs the caches and toolchains in the home of the workspace. Returns the size of the archive. */
export function packHome(request: Packing): Promise<number> {
  const { sandbox, workspace } = request
  const left = ['--anchored', ...neverKept.map((path) => `--exclude=${path}`)]
  const tar = ['tar', ...packing, ...left].join(' ')
  const script = `cd -- "$1" || exit 2; shift; for one; do shift; [ -e "$one" ] && [ ! -L "$one" ] && set -- "$@" "$one"; done; [ $# -eq 0 ] || exec ${tar} -- "$@"`
  const { home } = sandbox.paths(workspace)
  return pack(request, ['/bin/bash', '-c', script, 'pack', home, ...keptInHome], Buffer.alloc(0))
}

/** Creates the archive before its files are packed, because Node drops the output of a process that exits before anybody reads it. */
async function pack(
  request: Packing,
  command: readonly [string, ...string[]],
  input: Buffer,
): Promise<number> {
  const { to, create = createFile } = request
  const file = await create(to)
  try {
    return await packInto(file, request, command, input)
  } finally {
    await file.close()
  }
}

async function packInto(
  file: Pick<FileHandle, 'writev' | 'sync'>,
  { sandbox, workspace, search, signal, leftOut, mayWrite }: Packing,
  command: readonly [string, ...string[]],
  input: Buffer,
): Promise<number> {
  const child = sandbox.run({ ...plain, command, workspace, readOnly: [], stdin: 'pipe' })
  const said = lastWordsOf(child)
  const stopListening = killedBy(signal, child)
  child.stdin?.end(input)
  let bytes = 0
  try {
    let gathered: Buffer[] = []
    let waiting = 0
    const write = async () => {
      mayWrite(bytes)
      // On a full disk, `writev` may write only a part and report no fault.
      if (gathered.length > 0 && (await file.writev(gathered)).bytesWritten < waiting)
        throw new NotKept("The server's disk is full.")
      gathered = []
      waiting = 0
    }
    for await (const piece of filteredArchive(chunksOf(child.stdout), search, leftOut)) {
      gathered.push(piece)
      bytes += piece.length
      waiting += piece.length
      if (waiting >= pieceBytes) await write()
    }
    await write()
    const { code, reason } = await child.exited
    // `tar` ends with 1 when a file changed while it was read.
    if (reason !== 'itself' || (code !== 0 && code !== 1))
      throw new NotKept(`The files that the setup left could not be packed: ${(await said) || reason}.`)
    await file.sync()
    return bytes
  } finally {
    stopListening()
    child.kill()
    await child.exited
  }
}

const createFile = (path: string): Promise<FileHandle> => open(path, 'wx', 0o444)

const pieceBytes = 1024 ** 2

/** Kills a process when the signal aborts, until the returned function is called. */
function killedBy(signal: AbortSignal, { kill }: Pick<SandboxedProcess, 'kill'>): () => void {
  signal.addEventListener('abort', kill)
  if (signal.aborted) kill()
  return () => signal.removeEventListener('abort', kill)
}

const plain = {
  env: {},
  sockets: [],
  limits: commandLimits({ longestMs }),
}

async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of stream) yield Buffer.from(chunk)
}

async function lastWordsOf({ stderr }: SandboxedProcess): Promise<string> {
  const last = lastOf(300)
  for await (const chunk of stderr) last.add(String(chunk))
  return last.text().replaceAll(/\s+/g, ' ')
}

export interface Archives {
  readonly tree: string | undefined
  readonly home: string
}

const inSandbox = { tree: '/run/flightdeck/environment-tree', home: '/run/flightdeck/environment-home' }

/**
 * Unpacks archives into a workspace. Existing files in the home stay; existing files in the tree stay unless `over` is set. Throws when something was
 * not unpacked, for example because the signal aborted.
 */
export async function unpack(
  sandbox: Sandbox,
  workspace: Workspace,
  { tree, home }: Archives,
  { over, signal }: { readonly over: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const paths = sandbox.paths(workspace)
  const binds: (Bind & { readonly to: string; readonly keeps: boolean })[] = [
    { source: home, target: inSandbox.home, to: paths.home, keeps: true },
    ...(tree === undefined ? [] : [{ source: tree, target: inSandbox.tree, to: paths.tree, keeps: !over }]),
  ]
  // Each archive is unpacked by a `tar` of its own, and all of them run at the same time.
  const script =
    'for each in "$@"; do tar $each & jobs="$jobs $!"; done; for one in $jobs; do wait $one || failed=1; done; exit ${failed:-0}'
  const calls = binds.map(({ to, keeps, ...bind }) =>
    [
      '--extract',
      '--preserve-permissions',
      '--no-same-owner',
      '--warning=none',
      ...(keeps ? ['--skip-old-files'] : []),
      `--file=${sandbox.seenAs(bind)}`,
      `--directory=${to}`,
    ].join(' '),
  )
  const child = sandbox.run({
    ...plain,
    command: ['/bin/bash', '-c', script, 'unpack', ...calls],
    workspace,
    readOnly: binds.map(({ source, target }) => ({ source, target })),
    stdin: 'ignore',
  })
  const said = lastWordsOf(child)
  const stopListening = killedBy(signal, child)
  child.stdout.resume()
  const { code, reason } = await child.exited.finally(stopListening)
  if (code !== 0) throw new Error(`An environment could not be unpacked: ${(await said) || reason}`)
}
