/** Copies of a log with one damaged row each, in a stream of any kind, and what must still work with such a log. */
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  logStream,
  parseStream,
  projectStream,
  scopeOfStream,
  sealStream,
  taskStream,
  terminalStream,
  userStream,
} from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { projectsView } from '#domain/views/projects.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { usersView } from '#domain/views/users.ts'
import { openSqlite, type Sqlite } from '#platform/engines/sqlite.ts'
import { listQuarantined } from '#platform/eventlog/quarantine.ts'
import { isErased } from '#platform/eventlog/sealedBlobs.ts'
import { sweepBlobs } from '../../services/maintenance/blobSweep.ts'
import { startErasure } from '../../services/maintenance/erasure.ts'
import { startDispatcher } from '../../services/command/dispatcher.ts'
import { startFeed, type Viewer } from '../../services/gateway/live/feed.ts'
import { backup } from '../../services/operations/backup.ts'
import { taskAudit } from '../../services/query/taskAudit.ts'
import { historyPage } from '../../services/query/taskHistory.ts'
import { startDeletedRemoval } from '../../services/runner/workspace/deletedRemoval.ts'
import { openLocks } from '../../services/runner/workspace/locks.ts'
import { projectId, taskId, userId } from '../domain/ids.ts'
import {
  digest,
  files,
  makeBase,
  openFolder,
  otherStreams,
  projecting,
  sealed,
  silent,
  tasks,
  verified,
  withinMs,
  type Opened,
} from './damagedBase.ts'
import { cause, eventually } from './engines.ts'
import { pickFrom } from './tampering.ts'

/** Picks one of several, depending on the seed. */
type PickOne = <T>(from: readonly T[]) => T

function pickingFrom(seed: number): PickOne {
  // Scrambled, so that consecutive seeds begin differently.
  const draw = pickFrom(Math.imul(seed + 1, 2_654_435_761))
  return (from) => {
    const found = from[draw(from.length)]
    if (found === undefined) throw new Error('There is nothing to pick from.')
    return found
  }
}

/** Several copies at a time, because waits can overlap, although computing cannot. */
const atOnce = 4

/** The results of a number of logs. */
export interface Tried {
  /** What did not work, each with its seed and damage. */
  readonly faults: readonly string[]
  /** How many logs had a damaged row in each kind of stream. */
  readonly kinds: ReadonlyMap<string, number>
}

/** Damages a row in each of a number of copies of a log, beginning with this seed, and uses everything that is undamaged. */
export async function tryDamagedLogs(logs: number, seed = Date.now() % 1_000_000): Promise<Tried> {
  const base = await makeBase()
  const faults: string[] = []
  const kinds = new Map<string, number>()
  let next = seed
  const tryInTurn = async () => {
    while (next < seed + logs) {
      const own = next
      next += 1
      const { kind, damage, found } = await trial(base, own)
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      faults.push(...found.map((fault) => `seed ${own}: ${damage}: ${fault}`))
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, tryInTurn))
  } finally {
    await rm(base, { recursive: true, force: true })
  }
  return { faults, kinds }
}

async function trial(base: string, seed: number) {
  const copy = await mkdtemp(join(tmpdir(), 'flightdeck-damaged-'))
  try {
    await Promise.all(files.map((name) => copyFile(join(base, name), join(copy, name))))
    return await tryOn(copy, seed)
  } finally {
    for (const folder of [copy, `${copy}-backup`]) await rm(folder, { recursive: true, force: true })
  }
}

/** Columns by name, with other texts for them. */
const columns = [
  'id',
  'stream',
  'revision',
  'type',
  'version',
  'at',
  'data',
  'content',
  'meta',
  'position',
] as const
const numbers = [-7, 0, 3, 999, 2 ** 40, Number.MAX_SAFE_INTEGER]

function damagedText(text: string, pick: PickOne): string {
  const at = pick(Array.from({ length: Math.max(1, text.length) }, (_, index) => index))
  const byte = String.fromCodePoint(pick(Array.from({ length: 200 }, (_, code) => code + 1)))
  return pick([
    text.slice(0, at),
    text.slice(0, at) + byte + text.slice(at + 1),
    text.slice(0, at) + byte + text.slice(at),
    text.slice(at),
    '',
    'null',
    '[[['.repeat(at),
    text.replace('{', '{"hash":"x","type":1,"revision":2,'),
    text.replaceAll(/"[a-zA-Z]+":/g, '"other":'),
    text + text,
  ])
}

/** The text with one byte changed, perhaps to one that is invalid there. */
function damagedBytes(text: string, pick: PickOne): Uint8Array {
  const bytes = Buffer.from(text === '' ? 'x' : text)
  const at = pick([...bytes.keys()])
  return bytes.with(at, pick(Array.from({ length: 256 }, (_, byte) => byte)))
}

export interface Damage {
  readonly kind: string
  /** The damaged row and the kind of damage, in words. */
  readonly damage: string
  readonly column: string
  /** The streams that the damage affects. */
  readonly hurt: ReadonlySet<string>
}

/** Damages a row in a stream of any kind; each kind is picked equally often. */
function damageIn(db: Sqlite, pick: PickOne): Damage {
  const places = db
    .prepare<[], [number, string, number]>('SELECT position, stream, revision FROM events')
    .all()
  const kindOf = ([, stream]: (typeof places)[number]) => parseStream(stream).kind
  for (;;) {
    const kind = pick([...new Set(places.map(kindOf))])
    const [position, stream, revision] = pick(places.filter((place) => kindOf(place) === kind))
    const column = pick(columns)
    const [before] = db
      .prepare<[number], [string | number | null]>(`SELECT ${column} FROM events WHERE position = ?`)
      .get(position) ?? [null]
    const after =
      typeof before === 'number' ? pick(numbers) : pick([damagedText, damagedBytes])(before ?? '', pick)
    const text = typeof after === 'object' ? Buffer.from(after).toString('utf8') : String(after)
    if (after === before || text === before) continue
    try {
      db.prepare<[string | number | Uint8Array, number]>(
        `UPDATE events SET ${column} = ${typeof after === 'object' ? 'CAST(? AS TEXT)' : '?'} WHERE position = ?`,
      ).run(after, position)
    } catch {
      // There is a row at this place already.
      continue
    }
    const hurt = new Set([stream, ...(column === 'stream' ? [text] : [])])
    const damage = `${stream} @ ${revision}: ${column} ${JSON.stringify(text.slice(0, 1_000))}`
    return { kind, column, hurt, damage }
  }
}

/** Damages a row of the log in a data folder, depending on the seed, and removes the read models in half of the cases. */
export async function damageFolder(
  folder: string,
  seed: number,
): Promise<Damage & { readonly isLost: boolean }> {
  const pick = pickingFrom(seed)
  const file = join(folder, 'events.sqlite')
  const db = openSqlite({ file, synchronous: 'OFF', formats: [''], firstFormat: 4 })
  const done = damageIn(db, pick)
  db.close()
  const isLost = pick([true, false])
  for (const ending of isLost ? ['', '-wal', '-shm'] : [])
    await rm(join(folder, `views.sqlite${ending}`), { force: true })
  return { ...done, isLost, damage: `${done.damage}${isLost ? ', without read models' : ''}` }
}

async function tryOn(folder: string, seed: number) {
  const done = await damageFolder(folder, seed)
  const found: string[] = []
  try {
    const engines = await openFolder(folder)
    try {
      await useAll(engines, done, found)
    } finally {
      await engines.close()
    }
  } catch (fault) {
    found.push(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault))
  }
  return { kind: done.kind, found, damage: done.damage }
}

async function useAll(
  engines: Opened,
  damage: Damage & { readonly isLost: boolean },
  found: string[],
): Promise<void> {
  const { hurt, column } = damage
  const left = Array.from({ length: tasks }, (_, index) => taskId(index + 1)).filter(
    (id) => !hurt.has(taskStream(id)) && !hurt.has(terminalStream(id)),
  )
  await projecting(engines, async () => {
    await useTasks(engines, left, found)
    await readOthers(engines, hurt, found)
  })
  const told = await sealed(engines)
  const sealing = wrongSealing(damage, told)
  if (sealing !== undefined) found.push(sealing)
  // A position is no part of the format: a row that moved without passing another one is unchanged.
  const mustBeNamed = column !== 'position'
  const { findings } = await verified(engines)
  if (mustBeNamed && !findings.some(({ stream }) => hurt.has(stream)))
    found.push(`verify does not name it, but ${JSON.stringify(findings.map(({ sentence }) => sentence))}`)
  await listQuarantined(engines.readStore)
  if (told.length === 0) await exportTask(engines, left[0] ?? '', found)
  const { lines, failed = false } = await backup(`${engines.folder}-backup`, true, {
    config: {
      dataDir: engines.folder,
      engines: { eventStore: null, mongo: null, nats: null },
      masterKey: undefined,
      seals: { everyMs: 1_000, file: join(engines.folder, 'seals.ndjson'), git: null, witness: null },
    },
    logger: silent,
    digest,
    progress: () => undefined,
  })
  const namesIt = (line: string) => [...hurt].some((stream) => line.includes(stream))
  if (mustBeNamed && !(failed && lines.some(namesIt)))
    found.push(`the backup does not name it, but says ${lines.join(' ')}`)
}

/**
 * What is wrong with the result of the sealer, in words. The sealer may refuse because of damage that prevents it from proving that the log continues
 * as it was sealed.
 */
function wrongSealing(
  { hurt, column, isLost }: Damage & { readonly isLost: boolean },
  told: readonly string[],
): string | undefined {
  const isOfLog = hurt.has(logStream) && column !== 'position'
  if (isOfLog) return told.some((line) => line.includes(logStream)) ? undefined : 'it is sealed all the same'
  // Without the read models, the log alone cannot show what was sealed when one of its hashes or its order is damaged.
  const mayRefuse =
    hurt.has(sealStream(1)) ||
    hurt.has(logStream) ||
    (isLost && (column === 'meta' || column === 'position')) ||
    told.length === 0
  return mayRefuse ? undefined : `it is not sealed: ${told.join(' ')}`
}

/** Writes to every undamaged task, watches one, and deletes one with everything that belongs to it. */
async function useTasks(engines: Opened, left: readonly string[], found: string[]): Promise<void> {
  const heard: string[] = []
  const viewer: Viewer = {
    send: ([name]) => void heard.push(name),
    knowsWords: true,
    sessionEnded: () => undefined,
  }
  const [watched = '', deleted = '', ...others] = left
  const root = join(engines.folder, 'work')
  for (const id of left) await mkdir(join(root, 'tasks', id), { recursive: true })
  await writeFile(join(root, 'tasks', deleted, 'ready.json'), '')
  const feed = await startFeed(engines)
  const dispatcher = await startDispatcher(engines)
  const erasure = startErasure({ ...engines, ...noCodeHost })
  const removal = startDeletedRemoval({ ...engines, ...noRuns, root })
  try {
    await feed.join(watched, viewer, null)
    await Promise.all(
      [watched, ...others].map((id) => {
        const update = { type: 'UpdateTask', title: `after ${id}` } as const
        return engines.commands.execute(task, taskStream(id), update, cause())
      }),
    )
    const stream = taskStream(deleted)
    const removed = await engines.commands.execute(task, stream, { type: 'DeleteTask' }, cause())
    await eventually('viewers hear of it', () => heard.includes('task_event'), withinMs)
    const isGone = async () =>
      (await isErased(engines.vault, scopeOfStream(stream))) &&
      !(await readdir(join(root, 'tasks'))).includes(deleted)
    await eventually('what was deleted is erased', isGone, withinMs)
    if (!(await engines.projected.waitFor(removed.position ?? '0', withinMs))) found.push('not projected')
    const shown = await engines.documents.getMany(tasksView, left)
    for (const id of [watched, ...others])
      if (shown.get(id)?.title !== `after ${id}` || shown.get(id)?.unreadable)
        found.push(`${id} is not as it was written`)
    if (shown.has(deleted)) found.push(`${deleted} is still there`)
    await sweepBlobs(engines)
  } finally {
    await removal.stop()
    await erasure.stop()
    await dispatcher.stop()
    await feed.stop()
  }
}

const nobody = async () => {
  throw new Error('Nothing of these tasks is at a code host.')
}
const noCodeHost = {
  access: { end: nobody, tokenOf: nobody },
  codeHost: { branch: nobody, deleteBranch: nobody, isInOpenPullRequest: nobody },
}
const noRuns = {
  locks: openLocks(),
  eviction: { removeMirrors: async () => undefined, counted: () => undefined },
  limit: { held: () => [], liftIfGone: async () => undefined },
  path: process.env['PATH'] ?? '',
  endAgent: async () => undefined,
  rebuilds: { projects: () => [], projectDeleted: async () => undefined },
  isRunning: () => false,
  isBusy: () => false,
  idleMs: 0,
}

/** Reads each undamaged stream that is not a task's, and checks that those with documents have them. */
async function readOthers({ log, documents }: Opened, hurt: ReadonlySet<string>, found: string[]) {
  for (const stream of otherStreams.filter((name) => !hurt.has(name)))
    if ((await log.read(stream, 0, 1_000)).length === 0) found.push(`${stream} is empty`)
  for (const n of [1, 2]) {
    if (!hurt.has(userStream(userId(n))) && !(await documents.get(usersView, userId(n))))
      found.push(`user ${n} is gone`)
    if (!hurt.has(projectStream(projectId(n))) && !(await documents.get(projectsView, projectId(n))))
      found.push(`project ${n} is gone`)
  }
}

/** Reads the history and the audit bundle of an undamaged task. */
async function exportTask(engines: Opened, id: string, found: string[]): Promise<void> {
  if ((await historyPage(engines.log, id, { limit: 100 })).items.length === 0)
    found.push('the history is empty')
  // The task was sealed just now.
  const rpc = { call: async () => undefined }
  const wish = { taskId: id, isDeleted: false, withheld: [], sizes: [] }
  let lines = 0
  for await (const _line of await taskAudit({ ...engines, rpc }, wish)) lines += 1
  if (lines < 10) found.push(`the bundle has ${lines} lines`)
}
