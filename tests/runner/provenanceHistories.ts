/**
 * Random histories of a task's turns and of people who push to its branch, for tests. Every written line is unique, so the model knows who wrote it.
 */
import { readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { commitOf, gitText } from '../../services/runner/workspace/git/git.ts'
import { makeProvenanceScene, type ProvenanceScene } from './provenanceScene.ts'
import { testGit, writeIn } from './workspaceScene.ts'

/** Draws a whole number below the bound. */
type Draw = (bound: number) => number

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1)
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

export interface HistoryResult {
  /** The steps that were taken, in order. */
  readonly steps: readonly string[]
  /** The number of lines whose origin was compared. */
  readonly compared: number
  /** The lines whose origin differs from that of the model. */
  readonly wrong: readonly string[]
}

/** Plays one history with this many steps. */
export async function playHistory(pick: Draw, length: number): Promise<HistoryResult> {
  /** Who wrote each line; `null` when it was nobody of the task. */
  const writerOf = new Map<string, string | null>()
  let written = 0
  const newLine = (writer: string | null): string => {
    written += 1
    const line = `${writer ?? 'person'} wrote line ${written} ${pick(1_000_000)}`
    writerOf.set(line, writer)
    return line
  }
  const newLines = (writer: string | null, count: number) =>
    Array.from({ length: count }, () => newLine(writer))
  const edited = (text: string, writer: string | null): string => {
    const lines = linesOf(text)
    for (let change = 0; change <= pick(2); change += 1) {
      const at = pick(lines.length + 1)
      const kept = pick(3) === 0 ? [] : newLines(writer, 1)
      lines.splice(at, lines.length < 8 ? 0 : pick(2), ...kept)
    }
    return textOf(lines)
  }

  const at = await makeProvenanceScene({
    'a.txt': textOf(newLines(null, 14)),
    'b.txt': textOf(newLines(null, 14)),
  })
  try {
    return await played(at, { pick, length, writerOf, edited, newLines })
  } finally {
    await at.scene.remove()
  }
}

interface Playing {
  readonly pick: Draw
  readonly length: number
  readonly writerOf: ReadonlyMap<string, string | null>
  readonly edited: (text: string, writer: string | null) => string
  readonly newLines: (writer: string | null, count: number) => readonly string[]
}

async function played(
  at: ProvenanceScene,
  { pick, length, writerOf, edited, newLines }: Playing,
): Promise<HistoryResult> {
  const { scene, workspace } = at
  const { dir, branch } = workspace
  const steps: string[] = []
  const wrong: string[] = []
  let compared = 0
  let names = 0
  let turns = 0
  let isUndone = false
  const undone = new Set<string>()
  /** Lines of an undone turn can come back with a branch that people have rewritten: then their origin is those people. */
  const originOf = (line: string) => {
    const writer = writerOf.get(line)
    return writer != null && undone.has(writer) ? null : writer
  }
  const oneOf = <Item>(items: readonly Item[]): Item | undefined => items[pick(items.length)]
  const inTree = async () => (await readdir(dir)).filter((name) => name.endsWith('.txt')).toSorted()
  const read = (name: string) => readFile(join(dir, name), 'utf8')
  const atHost = (...args: string[]) => gitText(testGit, { gitDir: scene.remote, args })
  const fileAtHost = async (ref: string) =>
    oneOf((await atHost('ls-tree', '--name-only', ref)).split('\n')) ?? 'a.txt'
  const newName = () => `file${(names += 1)}.txt`

  const turn = async () => {
    turns += 1
    const name = `turn${turns}`
    const file = oneOf(await inTree())
    if (file === undefined || pick(4) === 0) await writeIn(dir, newName(), textOf(newLines(name, 10)))
    else {
      if (pick(3) > 0) await writeIn(dir, file, edited(await read(file), name))
      if (pick(4) === 0) await rename(join(dir, file), join(dir, newName()))
    }
    await at.endTurn(name)
    isUndone = false
  }
  const publish = async () => {
    const result = await at.publish()
    steps.push(`  ${result.kind}`)
    if (result.kind === 'conflict') {
      // The people undo what they pushed.
      const ours = await commitOf(testGit, workspace.privateGitDir, 'HEAD^')
      const isOurs = ours !== null && ours !== workspace.startCommit
      await atHost('update-ref', ...(isOurs ? [] : ['-d']), `refs/heads/${branch}`, ...(isOurs ? [ours] : []))
    }
    if (result.kind !== 'published' || !result.pushed) return
    for (const { path, lines } of (await at.added(result.headSha)).files) {
      const content = linesOf(`${await atHost('show', `${result.headSha}:${path}`)}\n`)
      for (const { from, to, executionId } of lines)
        for (const line of content.slice(from - 1, to)) {
          compared += 1
          if (originOf(line) !== executionId) wrong.push(`note: ${path}: ${line}: ${executionId}`)
        }
    }
  }
  const pushTo = async (ref: string) => {
    if ((await commitOf(testGit, scene.remote, `refs/heads/${ref}`)) === null) return
    const file = await fileAtHost(ref)
    const content = `${await atHost('show', `${ref}:${file}`)}\n`
    const to = pick(4) === 0 ? newName() : file
    await scene.commit({ ...(to !== file && { [file]: null }), [to]: edited(content, null) }, ref)
  }
  const isPushed = async () => (await commitOf(testGit, scene.remote, `refs/heads/${branch}`)) !== null
  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    turn,
    'another turn': turn,
    publish,
    'publish again': publish,
    'a person pushes': () => pushTo(branch),
    'a person pushes to main': () => pushTo('main'),
    'main is merged': async () => (await isPushed()) && at.mergeMain(),
    'the branch is rewritten': async () => (await isPushed()) && at.squashOntoMain(),
    undo: async () => {
      const last = at.turns.at(-1)
      if (last === undefined) return
      undone.add(last.turn)
      await at.undo()
      isUndone = true
    },
  }
  const compare = async () => {
    for (const file of await inTree()) {
      const content = linesOf(await read(file))
      const told = (await at.provenance(file))?.ranges ?? []
      if (told.at(-1)?.to !== content.length) wrong.push(`${file} has other lines`)
      for (const { from, to, turn: origin } of told)
        for (const line of content.slice(from - 1, to)) {
          compared += 1
          if (originOf(line) !== origin) wrong.push(`${file}: ${line}: ${origin}`)
        }
    }
  }
  for (let done = 0; done < length && wrong.length === 0; done += 1) {
    const act = oneOf(Object.keys(acts)) ?? 'turn'
    steps.push(act)
    await acts[act]?.()
    // After an undo, nothing is known about the files until a turn ends.
    if (at.turns.length > 0 && !isUndone && /turn|publish/.test(act)) await compare()
  }
  return { steps, compared, wrong }
}
