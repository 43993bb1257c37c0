/** Finds the repository's template for pull requests on a branch. Reads it from git: nothing is checked out, and no link is followed. */
import { splitNul } from '../workspace/changes/indexDifferences.ts'
import { endedWell, type Git } from '../workspace/git/git.ts'

/** The size limit of a template in bytes; larger ones are ignored. */
const longest = 20_000
const readTimeoutMs = 10_000
/** Matches a mention as GitHub recognizes it, but no email address. */
const mention = /(?<![\w.@])@(?=\w)/g

interface Entry {
  readonly name: string
  readonly kind: 'folder' | 'file' | 'other'
  readonly id: string
  readonly size: number
}

/**
 * The template that GitHub would use: `pull_request_template` in `.github`, at the root or in `docs`, or else the only file in a folder of that name.
 * Mentions in it are broken up. `null` when there is no template, or when it is too long or not text.
 */
export async function templateOf(
  git: Git,
  { gitDir, branch }: { readonly gitDir: string; readonly branch: string },
): Promise<string | null> {
  const read = async (args: readonly string[]) => {
    const finished = await git({ gitDir, args, timeoutMs: readTimeoutMs })
    return endedWell(finished) ? finished.stdout : undefined
  }
  const entriesOf = async (tree: string) =>
    splitNul((await read(['ls-tree', '-z', '--long', '--full-tree', tree])) ?? Buffer.alloc(0)).whole.map(
      entryOf,
    )
  const root = await entriesOf(`refs/heads/${branch}`)
  const inFolder = async (name: string) =>
    (await Promise.all(foldersOf(root, name).map(({ id }) => entriesOf(id)))).flat()
  const places = [await inFolder('.github'), root, await inFolder('docs')]
  const single = places.flatMap((entries) => entries.filter(isTemplate))
  const folders = places.flatMap((entries) => foldersOf(entries, 'pull_request_template'))
  const choices = single.length > 0 ? [] : (await Promise.all(folders.map(({ id }) => entriesOf(id)))).flat()
  const several = choices.filter(isText)
  const chosen = single[0] ?? (several.length === 1 ? several[0] : undefined)
  if (chosen === undefined || chosen.size > longest) return null
  const content = await read(['cat-file', 'blob', chosen.id])
  return content === undefined ? null : textOf(content)
}

function entryOf(record: Buffer): Entry {
  const [, mode = '', id = '', size = '', name = ''] =
    /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(record.toString('utf8')) ?? []
  const file = mode.startsWith('100') ? 'file' : 'other'
  return { name: name.toLowerCase(), kind: mode === '040000' ? 'folder' : file, id, size: Number(size) || 0 }
}

const foldersOf = (entries: readonly Entry[], name: string) =>
  entries.filter((entry) => entry.kind === 'folder' && entry.name === name)
const isText = ({ kind, name }: Entry) => kind === 'file' && /\.(?:md|txt)$/.test(name)
const isTemplate = (entry: Entry) => isText(entry) && /^pull_request_template\.\w+$/.test(entry.name)

/** The text of the file; `null` when it is not text, or blank. */
function textOf(content: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content).replaceAll('\r\n', '\n')
    return text.trim() === '' || /[^\P{Cc}\t\n]/u.test(text) ? null : text.replaceAll(mention, '@\u200B')
  } catch {
    return null
  }
}
