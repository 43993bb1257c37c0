/** Seeds: existing repositories that are imported under the account `ada`, so that people can try the product with their own repositories. */
import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ada } from './state/accounts.ts'
import { GitFault, type Git } from './git/runGit.ts'
import { repositoryName, type Repositories } from './repositories/repositories.ts'
import type { Repository } from './state/stateSchema.ts'

/** The maximum length of a description. */
const longestDescription = 350

/** A repository to import, given as a local path or git address, as a person wrote it. */
export interface Seed {
  readonly source: string
}

interface Place {
  readonly kind: 'folder' | 'address'
  /** The absolute path of the folder, or the git address. */
  readonly at: string
  readonly name: string
}

interface Parts {
  readonly git: Git
  readonly repositories: Repositories
  readonly log: (line: string) => void
}

/** git cannot read the repository that a person named. The message is a sentence for this person. */
class UnreadableSource extends Error {
  override readonly name = 'UnreadableSource'
}

const cloneLimit = 600_000
const refreshLimits = { folder: 60_000, address: 15_000 }

/**
 * Imports each seed, or updates it if it was imported before. A seed that git cannot clone is left out; this and a failed update are reported in the
 * log. Throws an error with a sentence for people when the path, address or name of a seed cannot be used, and when git can clone none of the seeds.
 */
export async function importSeeds(seeds: readonly Seed[], parts: Parts): Promise<void> {
  // All seeds are checked first, so that a mistake in the last seed is reported before the import of the first seed takes minutes.
  const places = seeds.map(({ source }) => placeOf(source))
  for (const place of places) await check(place)
  const faults: UnreadableSource[] = []
  for (const place of places) {
    try {
      const present = parts.repositories.find(ada.login, place.name)
      await (present ? refresh(place, present, parts) : clone(place, parts))
    } catch (fault) {
      if (!(fault instanceof UnreadableSource)) throw fault
      faults.push(fault)
    }
  }
  const [first] = faults
  if (first && faults.length === places.length) throw first
  for (const { message } of faults) parts.log(`Left out: ${message}`)
}

/** Parses a path or a git address. Throws an error with a sentence for people when the text cannot be used, or when it contains a password. */
export function placeOf(source: string): Place {
  const text = source.trim()
  // The part before the host may contain a password, so no sentence repeats it.
  const shown = text.replace(/\/\/[^/]*@/, '//…@')
  const faulty = (why: string) => new Error(`--repo ${JSON.stringify(shown)}: ${why}`)
  if (text === '' || text.startsWith('-')) throw faulty('give the path or the git address of a repository.')
  if (/\p{Cc}/u.test(text)) throw faulty('the path or address has control characters in it.')
  const kind = /^(https?|ssh|git):\/\/./i.test(text) || isScpLike(text) ? 'address' : 'folder'
  if (kind === 'folder' && /^[a-z][a-z0-9+.-]*:(:|\/\/)/i.test(text) && !text.startsWith('file://')) {
    throw faulty('only local paths and http, https, ssh and git addresses can be brought in.')
  }
  if (kind === 'address' && !isScpLike(text) && (!URL.canParse(text) || new URL(text).password !== '')) {
    throw faulty("the address cannot be read, or holds a password: let git's credential helper keep it.")
  }
  const at = kind === 'address' ? text : folderOf(text)
  const last = /([^/\\:]*?)(?:\.git)?$/.exec(at.replace(/[?#].*$/, '').replace(/\/+(?:\.git)?\/*$/, ''))?.[1]
  const name = repositoryName(last ?? '')
  if (name === undefined) throw faulty('no name for the repository can be made of it.')
  return { kind, at, name }
}

/** Whether the text has the form `git@example.com:owner/name.git`. */
const isScpLike = (text: string): boolean => /^\w[\w.-]*@[\w.-]+:(?!\/\/)\S+$/.test(text)

const folderOf = (text: string): string =>
  resolve(text.startsWith('file://') && URL.canParse(text) ? fileURLToPath(text) : text)

async function check(place: Place): Promise<void> {
  if (place.kind === 'address') return
  const found = await stat(place.at).catch(() => undefined)
  if (!found?.isDirectory()) {
    throw new Error(`--repo ${place.at}: there is no such folder. Give the path of a git repository.`)
  }
}

async function clone(place: Place, { git, repositories, log }: Parts): Promise<void> {
  const { name, at } = place
  const repository = await repositories.create(
    { owner: ada.login, name, description: await descriptionOf(place), isPrivate: false, source: at },
    async (dir) => {
      // `--bare` rather than `--mirror` keeps a person's stash and remote branches private. `--no-local` copies all objects, because the original
      // repository may be deleted later.
      const cloned = await git
        .run(['clone', '--quiet', '--bare', '--no-local', '--template=', '--', at, dir], {
          as: 'operator',
          timeLimit: cloneLimit,
        })
        .catch((fault: unknown) => {
          if (fault instanceof GitFault) return { code: 1, stderr: fault.message }
          throw fault
        })
      if (cloned.code !== 0)
        throw new UnreadableSource(`--repo ${at}: git cannot clone it: ${reasonOf(cloned.stderr, place)}`)
    },
  )
  log(`Imported ${at} as ${ada.login}/${repository.name}`)
  if (await isShallow(repositories.bare(repository).dir))
    log(`${at} is a shallow clone, without its whole history: git fetch --unshallow gets the rest of it.`)
}

/** The text of git's file `description` in the repository; without such a text, a sentence about the import. */
async function descriptionOf({ kind, at }: Place): Promise<string> {
  if (kind === 'address') return `Imported from ${at}`
  for (const file of [join(at, '.git/description'), join(at, 'description')]) {
    const words = (await readFile(file, 'utf8').catch(() => '')).trim().slice(0, longestDescription)
    // git's default text for the file only asks people to write a description.
    if (words !== '' && !words.startsWith('Unnamed repository')) return words
  }
  return 'Imported from a local folder'
}

/** Fetches new commits and branches from the seed's source. A branch that also got other commits on the code host stays as it is. */
async function refresh(place: Place, present: Repository, { git, repositories, log }: Parts): Promise<void> {
  const name = `${present.owner}/${present.name}`
  if (present.source !== place.at) {
    const other = present.source === null ? 'was made here' : `came from ${present.source}`
    throw new Error(
      `--repo ${place.at}: there is a repository ${name} already, which ${other}. Rename the folder, or use another DATA_DIR.`,
    )
  }
  const { dir } = repositories.bare(present)
  await repositories.notice(present)
  const fetched = await git
    .run(
      [
        `--git-dir=${dir}`,
        'fetch',
        '--quiet',
        '--no-write-fetch-head',
        '--no-auto-maintenance',
        '--',
        place.at,
        'refs/heads/*:refs/heads/*',
        'refs/tags/*:refs/tags/*',
      ],
      { as: 'operator', timeLimit: refreshLimits[place.kind] },
    )
    .catch((error: unknown) => ({ code: 1, stderr: String(error) }))
  if (fetched.code !== 0) log(`${name} is not all as in ${place.at}: ${reasonOf(fetched.stderr, place)}`)
  await repositories.settle(present)
}

const isShallow = (dir: string): Promise<boolean> =>
  stat(join(dir, 'shallow')).then(
    () => true,
    () => false,
  )

/** The reason in git's output. For a folder, git's first complaint is the useful one, because the last only says that a child process has ended. */
function reasonOf(stderr: string, { kind, at }: Place): string {
  const lines = stderr.trim().split('\n')
  const complaints = lines.filter((line) => line.startsWith('fatal: '))
  const told = (kind === 'folder' ? complaints[0] : complaints.at(-1)) ?? lines.at(-1) ?? ''
  const owned = /detected dubious ownership in repository at '(.*)'/.exec(told)?.[1]
  if (owned === undefined) return told.replace(/^fatal: /, '')
  return `${at} belongs to another user than this server's. To have git read it all the same: git config --global --add safe.directory ${quoted(owned)}`
}

/** Quotes a path for a shell. */
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
