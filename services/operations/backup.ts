/**
 * Copies the essential part of the data folder while the product is running, and makes a data folder from such a copy. The log is copied before blobs
 * and keys, so that these contain everything that its events name. Read models, the queue and workspaces are left out: they follow from the log and
 * the blobs.
 */
import { constants, existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { z } from 'zod'
import type { LogIdentity } from '#domain/log.ts'
import { commands } from '#platform/commands/execute.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { knownIdentity } from '#platform/eventlog/logIdentity.ts'
import { checkBlob, openStores, type OwnStores } from '#platform/compose.ts'
import type { Config } from '#platform/config/config.ts'
import type { Logger } from '#platform/log.ts'
import { copySqlite, lockFile } from '#platform/engines/sqlite.ts'
import { isDiskFull, OlderData } from '#platform/ports/faults.ts'
import { restoreLog } from '#platform/seals/nextEpoch.ts'
import { identityInFile, sealsFile } from '#platform/seals/sealsFile.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import { verifyLog, type Digest } from '#platform/verify/verify.ts'
import {
  copyTree,
  sumOf,
  digestOf,
  syncAll,
  syncFolder,
  placeOf,
  isInside,
  textOf,
  jsonOf,
  codeOf,
  isMissing,
  absentAs,
  FileSum,
  TreeSum,
} from './backupFiles.ts'
import type { OperationResult } from './operation.ts'

/** Thrown when a backup cannot be made or restored. The message says why, and what to do. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused'
}

/** The arguments of backup and restore. `config.dataDir` is the folder that a backup copies, or that a restore creates. */
export interface BackupWork {
  readonly config: Pick<Config, 'dataDir' | 'engines' | 'masterKey' | 'seals'>
  readonly logger: Logger
  readonly digest: Digest
  /** Called for each step, and with the progress of a long step. */
  readonly progress: (line: string) => void
}

const format = 1
const manifestName = 'manifest.json'
const keyName = 'master.key'
/** The name that the file of seals has in a backup. */
const sealsName = 'seals.ndjson'
/**
 * The log is copied before the blobs, and the keys are copied after them. An erasure destroys the key before the blobs, so a blob that is missing in
 * the copy has no key there either.
 */
const databases = { log: 'events.sqlite', keys: 'vault.sqlite' } as const
/**
 * The folders that a backup copies. The manifest has one hash for each of them. `codehost` is the folder of the local code host; it does not exist
 * when the code host is GitHub.
 */
const trees = ['blobs', 'codehost'] as const
/** The name of a private key that data folders of earlier versions contain unencrypted. It is copied only together with the master key. */
const hostKeyName = 'app.private-key.pem'

const Manifest = z.strictObject({
  format: z.literal(format),
  madeAt: z.iso.datetime(),
  log: z.strictObject({ logId: z.string(), epoch: z.int().positive(), events: z.int().nonnegative() }),
  files: z.record(z.string(), FileSum),
  trees: z.record(z.string(), TreeSum),
})
type Manifest = z.infer<typeof Manifest>

/**
 * Copies the data folder to `to`, which must be missing or empty, and checks the copy. The master key is included only if `withKey` is true. An
 * interrupted backup leaves nothing at `to`. Throws `BackupRefused`.
 */
export async function backup(to: string, withKey: boolean, work: BackupWork): Promise<OperationResult> {
  const { dataDir } = onlyEmbedded(work).config
  const target = resolve(to)
  if (!existsSync(join(dataDir, databases.log)))
    throw new BackupRefused(`There is no data folder at ${dataDir}. Name it with --data or DATA_DIR.`)
  await refuseOneInTheOther(target, dataDir)
  return beside(target, 'backup', async (part) => {
    const copyDatabase = (name: string) => {
      work.progress(`Copying ${name}`)
      copySqlite(join(dataDir, name), join(part, name))
    }
    // The seals are copied before the log, so that the copy of the log has every seal in the copied file.
    const seals = await copySeals(work.config.seals.file, join(part, sealsName))
    copyDatabase(databases.log)
    for (const name of trees) {
      work.progress(`Copying ${name}`)
      await copyTree(join(dataDir, name), join(part, name), work.progress, withKey ? [] : [hostKeyName])
    }
    copyDatabase(databases.keys)
    const key = withKey ? await keyFile(work) : undefined
    if (key !== undefined) await writeFile(join(part, keyName), key, { mode: 0o600, flush: true })
    const masterKey = work.config.masterKey ?? (await textOf(join(dataDir, keyName)))
    const checked = await checkStores({ ...work, config: { ...work.config, dataDir: part, masterKey } })
    const names = [...Object.values(databases), ...(withKey ? [keyName] : []), ...(seals ? [sealsName] : [])]
    const manifest: Manifest = {
      format,
      madeAt: new Date().toISOString(),
      log: { ...checked.identity, events: checked.events },
      files: Object.fromEntries(
        await Promise.all(names.map(async (name) => [name, await digestOf(join(part, name))] as const)),
      ),
      trees: Object.fromEntries(
        await Promise.all(trees.map(async (name) => [name, await sumOf(join(part, name))] as const)),
      ),
    }
    await writeFile(join(part, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, {
      mode: 0o600,
      flush: true,
    })
    return quoted(checked, `The backup is at ${target}`, [
      'Read models, the queue and workspaces are left out. Read models and the queue are rebuilt from the log.',
      withKey
        ? 'The backup contains the master key: anyone who has it can read everything.'
        : "The backup does not contain the master key. Keep a copy elsewhere: the backup can't be read without it.",
    ])
  })
}

/**
 * Creates the data folder from a backup, in the next epoch of its log. The folder must be missing, or contain at most `master.key`. Everything is
 * checked before the folder appears. Throws `BackupRefused`.
 */
export async function restore(from: string, work: BackupWork): Promise<OperationResult> {
  const { dataDir } = onlyEmbedded(work).config
  const source = resolve(from)
  const target = resolve(dataDir)
  await refuseOneInTheOther(source, target)
  const manifest = await manifestOf(source)
  return beside(target, 'restore', async (part) => {
    const key = await keyOf(source, target, work)
    for (const name of Object.keys(manifest.files)) {
      work.progress(`Copying ${name}`)
      await copyFile(join(source, name), join(part, name), constants.COPYFILE_FICLONE)
      await chmod(join(part, name), 0o600)
    }
    for (const name of Object.keys(manifest.trees)) {
      work.progress(`Copying ${name}`)
      await copyTree(join(source, name), join(part, name), work.progress)
    }
    const changed = await changedIn(part, manifest)
    if (changed.length > 0)
      throw new BackupRefused(`The backup is not as it was made. Changed since: ${changed.join(', ')}.`)
    if (key !== undefined)
      await writeFile(join(part, keyName), `${key.trim()}\n`, { mode: 0o600, flush: true })
    const restoring = { ...work, config: { ...work.config, dataDir: part } }
    const checked = await checkStores(restoring, async (stores) => {
      const clock = { now: () => new Date() }
      // An earlier restore of the same backup may have sealed the epoch that comes next by the log alone.
      const sealed = await identityInFile(sealsFile(work.config.seals.file))
      const above = sealed?.logId === manifest.log.logId ? sealed.epoch : 0
      const log = { ...stores, commands: commands(stores.log), clock }
      await restoreLog(log, above).catch((cause: unknown) => {
        if (!(cause instanceof UnreadableEvent || cause instanceof OlderData)) throw cause
        const why = cause instanceof OlderData ? 'The log lacks its beginning.' : cause.message
        throw new BackupRefused(`${why} Such a log cannot be restored: take an older backup.`, { cause })
      })
    })
    const kept = await keepSeals(work.config.seals.file, part, target)
    return quoted(checked, `The data folder ${target} is made of the backup of ${manifest.madeAt}`, [
      ...kept,
      'Start Flightdeck on it. Read models are rebuilt, and unfinished work is resumed or ended.',
    ])
  })
}

/** Copies the file of seals. Returns whether there is one. */
async function copySeals(from: string, to: string): Promise<boolean> {
  const isThere = await copyFile(from, to).then(() => true, absentAs(false))
  if (isThere) await chmod(to, 0o600)
  return isThere
}

/**
 * Puts the seals of the backup where the restored product expects them. If this place is outside of the data folder, an existing file of seals stays,
 * since it also has newer seals.
 */
async function keepSeals(file: string, part: string, target: string): Promise<readonly string[]> {
  if (isInside(file, target)) {
    const place = join(part, relative(target, file))
    await mkdir(dirname(place), { recursive: true, mode: 0o700 })
    await rename(join(part, sealsName), place).catch(absentAs(undefined))
    return []
  }
  if (existsSync(file)) return [`The seals in ${file} are left as they are.`]
  await mkdir(dirname(file), { recursive: true })
  return (await copySeals(join(part, sealsName), file)) ? [`The seals of the backup are in ${file}.`] : []
}

/** The content of `master.key` in the new folder: the key in the backup, or else the one already in the folder; with MASTER_KEY, only the latter. */
async function keyOf(source: string, target: string, { config }: BackupWork): Promise<string | undefined> {
  const [included, there] = [await textOf(join(source, keyName)), await textOf(join(target, keyName))]
  if (included !== undefined && there !== undefined && included.trim() !== there.trim())
    throw new BackupRefused(
      `${join(target, keyName)} is not the master key that the backup contains. Move it away first.`,
    )
  // With MASTER_KEY, the server never reads `master.key`, so the key in the backup is not used. An existing `master.key` stays all the same, since it
  // may be needed for other data.
  const key = config.masterKey === undefined ? (included ?? there) : there
  if (key === undefined && config.masterKey === undefined)
    throw new BackupRefused(
      `The master key is not in the backup. Give it with MASTER_KEY, or put it at ${join(target, keyName)}.`,
    )
  return key
}

function onlyEmbedded<Work extends BackupWork>(work: Work): Work {
  const { eventStore, mongo } = work.config.engines
  if (eventStore === null && mongo === null) return work
  throw new BackupRefused(
    'The log or the stores are engines of their own: docs/operating/backup.md says how these are backed up.',
  )
}

const sentences: ReadonlyMap<unknown, (target: string) => string> = new Map<
  unknown,
  (target: string) => string
>([
  ['ENOSPC', (target) => `There is not enough space at ${dirname(target)}. Nothing was left there.`],
  ['EBUSY', (target) => `${target} is where a disk is mounted. Name a folder in it.`],
  ['EACCES', (target) => `${dirname(target)} cannot be written.`],
])

/** Closes the stores, so that the database files contain everything, and removes files that `checkStores` created when it opened the stores. */
async function closeWhole(stores: OwnStores, folder: string): Promise<void> {
  await stores.close()
  for (const ending of ['', '-wal', '-shm']) await rm(join(folder, `views.sqlite${ending}`), { force: true })
  for (const name of Object.values(databases)) {
    const log = join(folder, `${name}-wal`)
    const left = await stat(log).then(({ size }) => size, absentAs(0))
    if (left > 0) throw new Error(`${log} was not moved into its database.`)
    for (const ending of ['-wal', '-shm']) await rm(join(folder, `${name}${ending}`), { force: true })
  }
}

/** The result for the operator: what was made, and the faults of the source. A copy of a damaged log is better than none. */
function quoted({ said, faults }: Checked, made: string, more: readonly string[]): OperationResult {
  if (faults.length === 0) return { lines: [`${made}, and whole: ${said}`, ...more] }
  return { failed: true, lines: [...faults, `${made}, and not whole: ${said}`, ...more] }
}

/** Runs `work` on a temporary folder beside the target. The folder replaces the target when `work` is done, and is removed after an error. */
async function beside(
  target: string,
  what: 'backup' | 'restore',
  work: (part: string) => Promise<OperationResult>,
): Promise<OperationResult> {
  const own = (name: string) => join(dirname(target), `.${basename(target)}.flightdeck-${name}`)
  const [part, before, lock] = [own('part'), own('before'), own('lock')]
  await refuseUnlessEmpty(target, what)
  await mkdir(dirname(target), { recursive: true })
  const release = await holdLock(lock)
  if (!release) throw new BackupRefused(`A ${what} to ${target} is under way.`)
  try {
    // A process that was killed between the two renames below may have left the target's old folder under this name, with the only master key.
    if (!existsSync(target)) await rename(before, target).catch(absentAs(undefined))
    await rm(before, { recursive: true, force: true })
    await rm(part, { recursive: true, force: true })
    await mkdir(part, { mode: 0o700 })
    const answer = await work(part)
    await syncAll(part)
    // Checks the target again, since it may have been filled in the meantime.
    await refuseUnlessEmpty(target, what)
    if (existsSync(target)) await rename(target, before)
    await rename(part, target)
    await syncFolder(dirname(target))
    await rm(before, { recursive: true, force: true })
    return answer
  } catch (fault) {
    const sentence = sentences.get(isDiskFull(fault) ? 'ENOSPC' : codeOf(fault))
    throw sentence === undefined ? fault : new BackupRefused(sentence(target), { cause: fault })
  } finally {
    await rm(part, { recursive: true, force: true })
    // The file is removed while the lock is held, so that a process that opened it before can see that it is gone.
    await rm(lock, { force: true })
    await release()
  }
}

/** Takes a lock on a file, which each holder removes in the end; `undefined` when another process holds it. */
async function holdLock(file: string): Promise<(() => Promise<void>) | undefined> {
  for (;;) {
    // The file stays open as long as the lock is held: closing any handle of a file releases all locks that the process has on it.
    const handle = await open(file, 'a', 0o600)
    const release = lockFile(file)
    const [opened, there] = await Promise.all([handle.stat(), stat(file).catch(absentAs(undefined))])
    if (release && opened.ino === there?.ino)
      return async () => {
        release()
        await handle.close()
      }
    // The lock is on a file that was removed, so it keeps nobody out. It is given back, and the loop tries again.
    release?.()
    await handle.close()
    if (!release) return undefined
  }
}

async function refuseUnlessEmpty(target: string, what: 'backup' | 'restore'): Promise<void> {
  const names = await readdir(target).catch((fault: unknown) => {
    if (isMissing(fault)) return []
    throw new BackupRefused(`${target} is no folder that can be used.`, { cause: fault })
  })
  const mayHold = what === 'restore' ? [keyName] : []
  if (names.some((name) => !mayHold.includes(name)))
    throw new BackupRefused(`${target} is not empty. Name a folder that is not there yet.`)
}

async function keyFile({ config }: BackupWork): Promise<string> {
  const key = config.masterKey ?? (await textOf(join(config.dataDir, keyName)))
  if (key === undefined) throw new BackupRefused('There is no master key to include.')
  return `${key.trim()}\n`
}

interface Checked {
  readonly identity: LogIdentity
  readonly events: number
  readonly said: string
  readonly faults: readonly string[]
}

/** Checks whether the log is complete, can be opened with the key, and has its blobs. Applies `then` to the stores, even if there are faults. */
async function checkStores(
  { config, logger, digest, progress }: BackupWork,
  then: (stores: OwnStores) => Promise<void> = async () => undefined,
): Promise<Checked> {
  const stores = await openStores(config, logger)
  try {
    const outside = sealsFile(join(config.dataDir, sealsName))
    const own = commands(stores.log)
    const identity = await knownIdentity({ ...stores, commands: own, sealsFile: outside })
    if (!identity) throw new BackupRefused('The log has no beginning: it is none of Flightdeck.')
    const { events, streams, erased, blobs, findings, more, sealing } = await verifyLog(
      { ...stores, blobs: { check: (hash) => checkBlob(join(config.dataDir, 'blobs'), hash) } },
      digest,
      (count) => progress(`${count} events checked`),
      {
        identity,
        readStore: stores.readStore,
        outside: () => outside.all(),
        isOutsideOlder: true,
        keysOf: async (epoch) => (await signingKeys(stores.vault, { ...identity, epoch }))?.vouched ?? [],
      },
    )
    const faults = [
      ...findings.map(({ sentence }) => sentence),
      ...(more > 0 ? [`${more} more are not listed.`] : []),
    ]
    await then(stores)
    const said = `${events} events in ${streams} streams, ${blobs} blobs, ${sealing?.seals ?? 0} seals; the content of ${erased} events was erased.`
    return { identity, events, said, faults }
  } finally {
    await closeWhole(stores, config.dataDir)
  }
}

async function manifestOf(source: string): Promise<Manifest> {
  const text = await textOf(join(source, manifestName))
  if (text === undefined) throw new BackupRefused(`There is no backup at ${source}.`)
  const parsed = Manifest.safeParse(jsonOf(text))
  if (!parsed.success)
    throw new BackupRefused(`The ${manifestName} at ${source} is not one that this Flightdeck reads.`)
  const { files } = parsed.data
  const named = [...Object.keys(files), ...Object.keys(parsed.data.trees)]
  const known: readonly string[] = [...Object.values(databases), ...trees, keyName, sealsName]
  if (
    Object.values(databases).some((name) => files[name] === undefined) ||
    named.some((name) => !known.includes(name))
  )
    throw new BackupRefused(`The ${manifestName} at ${source} is not one that this Flightdeck reads.`)
  return parsed.data
}

/** The parts of the copy that differ from the manifest. */
async function changedIn(part: string, { files, trees: summed }: Manifest): Promise<readonly string[]> {
  const changed: string[] = []
  for (const [name, made] of Object.entries(files)) {
    const now = await digestOf(join(part, name))
    if (now.sha256 !== made.sha256 || now.bytes !== made.bytes) changed.push(name)
  }
  for (const [name, made] of Object.entries(summed))
    if ((await sumOf(join(part, name))).sha256 !== made.sha256) changed.push(name)
  return changed
}

/** Throws `BackupRefused` if one folder is inside the other, even if links lead there. */
async function refuseOneInTheOther(one: string, other: string): Promise<void> {
  const [a, b] = [await placeOf(resolve(one)), await placeOf(resolve(other))]
  if (isInside(a, b) || isInside(b, a))
    throw new BackupRefused('The backup and the data folder must not be inside each other.')
}
