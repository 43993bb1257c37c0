/**
 * Keeps the results of setups, called layers, on the disk of this runner: folders below `<root>/environments` with two archives and the commit. The
 * name of a folder has the project, the hashes of the key, the time and the size. A folder gets this name only once all of it is on the disk, so an
 * incomplete layer is never found.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ifAbsent, syncFolder } from '#platform/files.ts'
import { removeFolder } from '../workspace/agentFiles.ts'
import type { EnvironmentKey } from './environmentKey.ts'

export interface EnvironmentOptions {
  /** The maximum size of the archives of one environment, in bytes. */
  readonly mostBytes: number
  /** The configured minimum of free disk space, in bytes. No environment is kept while less than half of it is free. */
  readonly leastFree: number
  /**
   * The keys of environments that could not be kept. The runner does not try again to keep them until it is started again, or until a person asks for
   * a rebuild.
   */
  readonly notKept: Set<string>
}

export interface Layer {
  readonly dir: string
  readonly projectId: string
  readonly key: EnvironmentKey
  /** When the layer was made, in milliseconds since 1970. */
  readonly builtAt: number
  /** The size of both archives together. */
  readonly bytes: number
}

export interface NewLayer extends Omit<Layer, 'dir'> {
  /** The commit that the setup's workspace began at. */
  readonly commit: string
  /** When a task last used an environment of the project, in milliseconds since 1970; now by default. */
  readonly usedAt?: number | undefined
}

/** The paths of the two archives in the folder of a layer, even while it is being written. */
export const archivesIn = (dir: string) => ({ tree: join(dir, 'tree.tar'), home: join(dir, 'home.tar') })

interface Place {
  readonly root: string
  /** The `PATH` for programs. */
  readonly path: string
}

/** Each project keeps this many layers; the least recently used are removed first. */
const keptOfProject = 3
const halfMade = '.half-'
const underWay = '.under-way-'
const layerName = /^([A-Za-z0-9_-]+)\.([0-9a-f]{16})\.([0-9a-f]{32})\.(\d+)\.(\d+)$/
const folderOf = (root: string): string => join(root, 'environments')

/** Makes a folder for the archives of a layer. The caller must remove the folder, or keep it as a layer. */
export async function beginLayer(root: string): Promise<string> {
  const dir = join(folderOf(root), `${halfMade}${randomUUID()}`)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  return dir
}

/** A setup that its project's page shows as running. */
export interface SetupUnderWay {
  readonly projectId: string
  /** Whether tasks may use an earlier environment if this setup does not finish. */
  readonly hasEarlier: boolean
}

/** Notes a setup on the disk before its project's page says that it runs. The returned function removes the note. */
export async function noteUnderWay(
  root: string,
  { projectId, hasEarlier }: SetupUnderWay,
): Promise<() => Promise<void>> {
  await mkdir(folderOf(root), { recursive: true, mode: 0o700 })
  const note = join(folderOf(root), `${underWay}${projectId}.${hasEarlier ? 1 : 0}.${randomUUID()}`)
  await writeFile(note, '')
  return () => rm(note, { force: true })
}

const commitIn = (dir: string): string => join(dir, 'commit')

/**
 * Turns the folder `half`, which has complete archives, into a layer. Removes older layers with the same key, and the least recently used layers
 * beyond `keptOfProject`.
 */
export async function keepLayer(
  { root, path }: Place,
  half: string,
  { projectId, key, builtAt, bytes, commit, usedAt }: NewLayer,
): Promise<void> {
  await writeFile(commitIn(half), commit)
  await syncFolder(half)
  if (usedAt !== undefined) await utimes(half, new Date(usedAt), new Date(usedAt))
  const [setup, setupAndLocks] = [key.setup.slice(0, 16), key.setupAndLocks.slice(0, 32)]
  const dir = join(folderOf(root), [projectId, setup, setupAndLocks, builtAt, bytes].join('.'))
  await rename(half, dir)
  await syncFolder(folderOf(root))
  // Only older layers are removed: otherwise two layers that are kept at the same time would remove each other.
  const others = (await layersOf(root, projectId)).filter(
    (layer) => layer.builtAt < builtAt || (layer.builtAt === builtAt && layer.dir < dir),
  )
  const [same, unlike] = [true, false].map((is) =>
    others.filter(({ key: its }) => (its.setupAndLocks === setupAndLocks) === is),
  )
  const used = await Promise.all(
    (unlike ?? []).map(async (layer) => ({ ...layer, at: await lastUsed(layer.dir) })),
  )
  const beyond = used.toSorted((one, other) => other.at - one.at).slice(keptOfProject - 1)
  for (const old of [...(same ?? []), ...beyond]) await removeLayer(old.dir, path)
}

/** The commit that a layer was made from; `undefined` when that is not known. */
export async function commitOfLayer({ dir }: Layer): Promise<string | undefined> {
  const commit = (await readFile(commitIn(dir), 'utf8').catch(ifAbsent)) ?? ''
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

/** Whether a project has a layer with one of these keys. */
export async function hasLayer(
  root: string,
  projectId: string,
  keys: readonly EnvironmentKey[],
  by: keyof EnvironmentKey,
): Promise<boolean> {
  const fitting = (await layersOf(root, projectId)).filter((layer) =>
    keys.some((key) => fits(layer, key, by)),
  )
  return (await Promise.all(fitting.map(isWhole))).includes(true)
}

const fits = (layer: Layer, key: EnvironmentKey, by: keyof EnvironmentKey): boolean =>
  key[by].startsWith(layer.key[by])

/** Finds a layer of a project: the newest layer with the first of `keys`, or else with the next of them. The found layer then counts as used now. */
export async function findLayer(
  root: string,
  projectId: string,
  keys: readonly EnvironmentKey[],
  by: keyof EnvironmentKey,
  markUsed: (dir: string) => Promise<void> = markUsedNow,
): Promise<Layer | undefined> {
  const layers = await layersOf(root, projectId)
  for (const key of keys)
    for (const layer of layers) {
      if (!fits(layer, key, by) || !(await isWhole(layer))) continue
      // Another run may have removed the layer just now.
      const isThere = await markUsed(layer.dir).then(() => true, ifAbsent)
      if (isThere) return layer
    }
  return undefined
}

const markUsedNow = (dir: string): Promise<void> => utimes(dir, new Date(), new Date())

/** Whether the archives still have their recorded size: programs that unpack an archive do not always notice that its end is missing. */
async function isWhole({ dir, bytes }: Layer): Promise<boolean> {
  const files = Object.values(archivesIn(dir))
  const sizes = await Promise.all(files.map(async (file) => (await stat(file).catch(ifAbsent))?.size ?? 0))
  return sizes.reduce((sum, size) => sum + size, 0) === bytes
}

/** All layers, newest first. */
export async function allLayers(root: string): Promise<readonly Layer[]> {
  const names = (await readdir(folderOf(root)).catch(ifAbsent)) ?? []
  return names
    .flatMap((name) => {
      const [, projectId, setup, setupAndLocks, builtAt, bytes] = layerName.exec(name) ?? []
      if (projectId === undefined || setup === undefined || setupAndLocks === undefined) return []
      return [
        {
          dir: join(folderOf(root), name),
          projectId,
          key: { setup, setupAndLocks },
          builtAt: Number(builtAt),
          bytes: Number(bytes),
        },
      ]
    })
    .toSorted((one, other) => other.builtAt - one.builtAt)
}

export async function layersOf(root: string, projectId: string): Promise<readonly Layer[]> {
  return (await allLayers(root)).filter((layer) => layer.projectId === projectId)
}

/** Removes a layer. It is renamed first, so that nobody finds it any more. A program that is already reading it can go on. */
export async function removeLayer(dir: string, path: string): Promise<void> {
  // If the removal fails, the next eviction removes the rest of this folder.
  const gone = join(dirname(dir), `.gone-${basename(dir)}`)
  await rename(dir, gone).catch(ifAbsent)
  await removeFolder(gone, path)
}

/**
 * Removes unfinished files that a killed process has left, and the notes of the setups that it was running. A note stays for the next start if
 * `recordEnd` resolves to `false`.
 */
export async function removeHalfMade(
  { root, path }: Place,
  recordEnd: (setup: SetupUnderWay) => Promise<boolean>,
): Promise<void> {
  for (const name of (await readdir(folderOf(root)).catch(ifAbsent)) ?? []) {
    const [projectId = '', hasEarlier] = name.slice(underWay.length).split('.')
    const isOver = name.startsWith(underWay)
      ? await recordEnd({ projectId, hasEarlier: hasEarlier === '1' })
      : name.startsWith(halfMade)
    if (isOver) await removeFolder(join(folderOf(root), name), path)
  }
}

/** When a task last used a layer, or else the `usedAt` with which it was kept, in milliseconds since 1970; 0 when the layer does not exist. */
export async function lastUsed(dir: string): Promise<number> {
  return (await stat(dir).catch(ifAbsent))?.mtimeMs ?? 0
}
