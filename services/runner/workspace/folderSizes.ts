/** Measures the disk space of folders by `du`. */
import { relative } from 'node:path'
import { run, spawnProcess, type SpawnedProcess } from '#platform/childProcess.ts'
import { withinOr } from '#platform/async/timeLimit.ts'

const measuresForMs = 60_000
const environment = (path: string) => ({ PATH: path, LC_ALL: 'C.UTF-8' })

/**
 * The bytes that folders use on the disk. A folder that `du` does not reach in time is missing. If a folder is being removed meanwhile, only the
 * files that `du` still finds count.
 */
export async function sizesOf(
  dirs: readonly string[],
  path: string,
  timeoutMs = 2 * measuresForMs,
): Promise<ReadonlyMap<string, number>> {
  return (await measured(dirs, path, timeoutMs)).sizes
}

async function measured(dirs: readonly string[], path: string, timeoutMs: number) {
  if (dirs.length === 0) return { sizes: new Map<string, number>(), isWhole: true }
  const { stdout, endedBy } = await run('du', ['-s', '-k', '--', ...dirs], {
    env: environment(path),
    timeoutMs,
    // `du` names each path that it cannot read, so its output is limited.
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

export interface FolderSizes {
  /** The bytes that a folder below the root uses; `unknown` when counting takes longer than a minute. */
  sizeOf(folder: string): Promise<number | 'unknown'>
  close(): void
}

const counting = 'while IFS= read -r name; do du -s -k -- "$name" 2>/dev/null; echo; done'

/**
 * Measures folders below `root` through one shell that stays open. Starting a program copies this process and blocks it until the program runs. The
 * small shell starts `du` quickly and without blocking this process.
 */
export function openFolderSizes(root: string, path: string): FolderSizes {
  let shell: SpawnedProcess | undefined
  let isBusy = false
  function end(): void {
    shell?.signalGroup('SIGKILL')
    shell = undefined
  }
  async function ask(name: string): Promise<number | 'unknown'> {
    if (shell === undefined || shell.stdout.closed)
      shell = spawnProcess('/bin/sh', ['-c', counting], { cwd: root, env: environment(path), stdin: 'pipe' })
    const answer = answerOf(shell)
    shell.stdin?.write(`${name}\n`)
    const bytes = await withinOr(measuresForMs, answer, 'unknown' as const)
    if (bytes === 'unknown') end()
    return bytes
  }
  return {
    async sizeOf(folder) {
      if (isBusy) {
        const { sizes, isWhole } = await measured([folder], path, measuresForMs)
        return isWhole ? (sizes.get(folder) ?? 0) : 'unknown'
      }
      isBusy = true
      return ask(relative(root, folder)).finally(() => (isBusy = false))
    },
    close: end,
  }
}

/** The bytes in the shell's next answer: the output of `du`, if any, and an empty line. */
function answerOf({ stdout }: SpawnedProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onClose = () => reject(new Error('The shell that measures folders has ended.'))
    const onData = (chunk: Buffer) => {
      text += chunk.toString('utf8')
      if (!/(^|\n)\n$/.test(text)) return
      stdout.off('data', onData).off('close', onClose)
      resolve(Number(/^\d+/.exec(text)?.[0] ?? 0) * 1_024)
    }
    stdout.on('data', onData).once('close', onClose)
  })
}
