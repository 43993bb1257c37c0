/** A git repository that gets a commit for each seal that is sent there, on a branch for this log alone. Pushes never use force. */
import { run } from '#platform/childProcess.ts'
import { parseCheckpoint, parseNote } from '#domain/proof/checkpoint.ts'
import type { Placed, SealedLogView, SecondPlace } from './secondPlaces.ts'
import type { OutsideSeal } from './sealsFile.ts'

export interface GitPlaceOptions {
  readonly repository: string
  /** The folder of our own repository, in which the commits are made. */
  readonly folder: string
  /** The operator's environment, from which git gets keys and credentials. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

const callTimeoutMs = 20_000
const author = { name: 'Flightdeck', email: 'seals@flightdeck.dev' }

export function gitPlace(options: GitPlaceOptions): SecondPlace {
  return {
    name: 'the git repository of seals',
    put: (seal, log, signal) => put({ ...options, signal }, seal, log),
  }
}

/** Options of one transfer, which `signal` aborts. */
type Transfer = GitPlaceOptions & { readonly signal: AbortSignal }

async function put(options: Transfer, seal: OutsideSeal, log: SealedLogView): Promise<Placed> {
  const branch = `refs/heads/seals-${log.identity.logId}`
  await git(options, ['init', '--quiet', '--bare', options.folder])
  const tip = await fetchTip(options, branch)
  if (tip !== undefined) {
    const note = await git(options, ['cat-file', 'blob', `${tip}:checkpoint`])
    const why = await log.contradiction(note)
    if (why !== undefined) return { kind: 'contradicted', why }
    if (sizeOf(note) === sizeOf(seal.checkpoint) && note.split('\n')[0] === seal.checkpoint.split('\n')[0])
      return { kind: 'held' }
  }
  const commit = await commitOf(options, seal, tip)
  await git(options, ['push', '--quiet', '--no-verify', '--', options.repository, `${commit}:${branch}`])
  return { kind: 'held' }
}

const sizeOf = (note: string) => parseCheckpoint(parseNote(note)?.text ?? '')?.size

/** Fetches the newest commit of the remote branch; `undefined` when the branch does not exist. */
async function fetchTip(options: Transfer, branch: string): Promise<string | undefined> {
  const listed = await git(options, ['ls-remote', '--', options.repository, branch])
  const [tip = ''] = listed.split(/\s/)
  if (tip === '') return undefined
  await git(options, ['fetch', '--quiet', '--no-tags', '--depth=1', '--', options.repository, branch])
  return tip
}

async function commitOf(
  options: Transfer,
  { checkpoint, heads, at, revision }: OutsideSeal,
  parent: string | undefined,
): Promise<string> {
  const blobOf = async (text: string) =>
    (await git(options, ['hash-object', '-w', '--no-filters', '--stdin'], text)).trim()
  const entries = `100644 blob ${await blobOf(checkpoint)}\tcheckpoint\n100644 blob ${await blobOf(heads)}\theads\n`
  const tree = (await git(options, ['mktree'], entries)).trim()
  const parents = parent === undefined ? [] : ['-p', parent]
  const message = `Seal ${revision} over ${sizeOf(checkpoint)} events, made ${at}\n`
  return (await git(options, ['commit-tree', ...parents, '-F', '-', tree], message)).trim()
}

async function git(
  { folder, environment, signal }: Transfer,
  args: readonly string[],
  input?: string,
): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const finished = await run(
    'git',
    ['-c', 'core.hooksPath=/dev/null', ...(args[0] === 'init' ? [] : ['--git-dir', folder]), ...args],
    {
      env: {
        ...env,
        GIT_TERMINAL_PROMPT: '0',
        GIT_AUTHOR_NAME: author.name,
        GIT_AUTHOR_EMAIL: author.email,
        GIT_COMMITTER_NAME: author.name,
        GIT_COMMITTER_EMAIL: author.email,
      },
      ...(input === undefined ? {} : { input }),
      timeoutMs: callTimeoutMs,
      maxOutputBytes: 1_000_000,
      signal,
    },
  )
  if (finished.code === 0 && finished.endedBy === 'itself') return finished.stdout.toString('utf8')
  const said = finished.stderr.toString('utf8').trim().split('\n').at(-1) ?? ''
  throw new Error(`git ${args[0]}: ${said || finished.endedBy}`)
}
