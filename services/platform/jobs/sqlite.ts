/** The embedded work queue: jobs and their leases in a SQLite file. */
import type { Clock } from '../ports/clock.ts'
import { LeaseLost } from '../ports/faults.ts'
import type { ReportFault } from '../ports/faults.ts'
import {
  rejectedKeptMs,
  type Delivery,
  type Job,
  type Jobs,
  type JobState,
  type Worker,
} from '../ports/jobs.ts'
import { openSqlite } from '../engines/sqlite.ts'
import { placesOfOne } from './fairShare.ts'
import { traceOf } from './faultTrace.ts'

// `due` (ms since 1970) is when a queued job may be delivered, when a lease expires, or when a job was done or rejected. `lease` counts deliveries
// and is never reused, so that calls of an earlier worker no longer match.
const formats = [
  `CREATE TABLE jobs (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     kind TEXT NOT NULL,
     payload TEXT NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('queued', 'leased', 'done', 'rejected')),
     due INTEGER NOT NULL,
     attempt INTEGER NOT NULL DEFAULT 0,
     lease INTEGER NOT NULL DEFAULT 0,
     reason TEXT
   ) STRICT;
   CREATE INDEX open_jobs ON jobs (kind, due, seq) WHERE state IN ('queued', 'leased');
   CREATE INDEX done_jobs ON jobs (due) WHERE state = 'done';
   CREATE INDEX rejected_jobs ON jobs (kind, due, seq) WHERE state = 'rejected'`,
  // The person among whose running jobs the job counts; empty for a job without a person.
  `ALTER TABLE jobs ADD COLUMN person TEXT NOT NULL DEFAULT ''`,
  // `served` (ms since 1970, and for one kind never the same twice) is when a person last got a slot.
  `CREATE INDEX open_jobs_of_persons ON jobs (kind, person, due, seq) WHERE state IN ('queued', 'leased');
   CREATE INDEX leased_jobs ON jobs (kind, due, person) WHERE state = 'leased';
   CREATE TABLE turns (
     kind TEXT NOT NULL,
     person TEXT NOT NULL,
     served INTEGER NOT NULL,
     PRIMARY KEY (kind, person)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX turns_by_time ON turns (kind, served)`,
  `CREATE TABLE marks (name TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT, WITHOUT ROWID`,
  // Reasons were stack traces, which may contain text by people.
  `UPDATE jobs SET reason = 'unknown' WHERE reason IS NOT NULL`,
  // `waits` is 1 while the job, by its last lease, waits for a person and takes no slot of its own person.
  `ALTER TABLE jobs ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
   DROP INDEX leased_jobs;
   CREATE INDEX leased_jobs ON jobs (kind, due, person) WHERE state = 'leased' AND waits = 0`,
]

const doneKeptMs = 7 * 24 * 3_600_000
const sweepIntervalMs = 3_600_000
const longestTimerMs = 60_000
/** A clock that goes back by less is being adjusted, which delays a job by no more. */
const setBackMs = 1_000
const firstPauseMs = 200
const longestPauseMs = 30_000

const pauseAfter = (failures: number): number => Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs)

type Lease = [id: string, payload: string, attempt: number, lease: number, person: string]

type Db = ReturnType<typeof openSqlite>

function takingStatements(db: Db) {
  return {
    insert: db.prepare<[string, string, string, string, number]>(
      `INSERT INTO jobs (id, kind, person, payload, state, due) VALUES (?, ?, ?, ?, 'queued', ?)
     ON CONFLICT (id) DO NOTHING`,
    ),
    // Chooses a job of the person with the fewest running jobs; among equals, of the person served longest ago; of that person's jobs, the one that
    // became due first. Nobody who has `most` running jobs gets another. Each person costs a few index steps, however many of their jobs wait.
    next: db.prepare<[string, number, number], [seq: number, person: string]>(
      `WITH RECURSIVE persons (person) AS (
       SELECT min(person) FROM jobs INDEXED BY open_jobs_of_persons
       WHERE kind = ?1 AND state IN ('queued', 'leased')
       UNION ALL
       SELECT (SELECT min(jobs.person) FROM jobs INDEXED BY open_jobs_of_persons
               WHERE kind = ?1 AND state IN ('queued', 'leased') AND jobs.person > persons.person)
       FROM persons WHERE persons.person IS NOT NULL
     ), held (person, places) AS MATERIALIZED (
       SELECT person, count(*) FROM jobs INDEXED BY leased_jobs
       WHERE kind = ?1 AND state = 'leased' AND waits = 0 AND due > ?2 AND person <> '' GROUP BY person
     ), waiting (person, seq) AS (
       SELECT person, (SELECT seq FROM jobs INDEXED BY open_jobs_of_persons
                       WHERE kind = ?1 AND state IN ('queued', 'leased') AND jobs.person = persons.person AND due <= ?2
                       ORDER BY due, seq LIMIT 1)
       FROM persons WHERE person IS NOT NULL
     )
     SELECT jobs.seq, waiting.person FROM waiting
     JOIN jobs ON jobs.seq = waiting.seq
     LEFT JOIN held ON held.person = waiting.person
     LEFT JOIN turns ON turns.kind = ?1 AND turns.person = waiting.person
     WHERE coalesce(held.places, 0) < ?3
     ORDER BY coalesce(held.places, 0), coalesce(turns.served, 0), jobs.due, jobs.seq LIMIT 1`,
    ),
    lease: db.prepare<[number, number], Lease>(
      `UPDATE jobs SET state = 'leased', due = ?, attempt = attempt + 1, lease = lease + 1, waits = 0 WHERE seq = ?
     RETURNING id, payload, attempt, lease, person`,
    ),
    noteTurn: db.prepare<[string, string, number]>(
      `INSERT INTO turns (kind, person, served)
     VALUES (?1, ?2, max(?3, (SELECT coalesce(max(served), 0) + 1 FROM turns WHERE kind = ?1)))
     ON CONFLICT (kind, person) DO UPDATE SET served = excluded.served`,
    ),
    forgetTurns: db.prepare<[number]>(`DELETE FROM turns WHERE served < ?`),
    // When the next job becomes due. Jobs that are due already do not count: they wait for a slot, and are found when one becomes free.
    nextDue: db.prepare<[string, number], [number | null]>(
      `SELECT min(due) FROM jobs WHERE kind = ? AND state IN ('queued', 'leased') AND due > ?`,
    ),
  }
}

function jobStatements(db: Db) {
  const leased = `WHERE id = ? AND lease = ? AND state = 'leased'`
  return {
    setWaits: db.prepare<[number, string, number]>(`UPDATE jobs SET waits = ? ${leased}`),
    renew: db.prepare<[number, string, number]>(`UPDATE jobs SET due = ? ${leased}`),
    finish: db.prepare<[number, string, number]>(`UPDATE jobs SET state = 'done', due = ? ${leased}`),
    giveBack: db.prepare<[number, string, number]>(`UPDATE jobs SET state = 'queued', due = ? ${leased}`),
    setAside: db.prepare<[number, string, string, number]>(
      `UPDATE jobs SET state = 'rejected', due = ?, reason = ? ${leased}`,
    ),
    bringBack: db.prepare<[number, string], [string]>(
      `UPDATE jobs SET state = 'queued', due = ?, attempt = 0, reason = NULL WHERE id = ? AND state = 'rejected'
     RETURNING kind`,
    ),
    stateOf: db.prepare<[string], [JobState]>('SELECT state FROM jobs WHERE id = ?'),
    setMark: db.prepare<[string, string]>(
      'INSERT INTO marks (name, position) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET position = excluded.position',
    ),
    getMark: db.prepare<[string], [string]>('SELECT position FROM marks WHERE name = ?'),
    countOpen: db.prepare<[string], [number]>(
      `SELECT count(*) FROM jobs WHERE kind = ? AND state IN ('queued', 'leased')`,
    ),
    listRejected: db.prepare<[string, number], [string, string, string, string]>(
      `SELECT id, payload, reason, person FROM jobs WHERE kind = ? AND state = 'rejected' ORDER BY due DESC, seq DESC LIMIT ?`,
    ),
    forgetDone: db.prepare<[number]>(
      `DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE state = 'done' AND due < ? ORDER BY due LIMIT 1000)`,
    ),
    forgetRejected: db.prepare<[number]>(`DELETE FROM jobs WHERE state = 'rejected' AND due < ?`),
  }
}

interface QueueWorker {
  readonly kind: string
  wake(): void
  stop(): Promise<void>
}

type Statements = ReturnType<typeof takingStatements> & ReturnType<typeof jobStatements>

interface Queue extends Statements {
  readonly db: Db
  readonly workers: Set<QueueWorker>
  readonly onFault: ReportFault
  now(): number
  /** When old jobs were last deleted, in ms since 1970. */
  swept: number
}

/** Opens the queue in `file`. Jobs that an earlier process had leased are queued again, because only one process uses the file. */
export function openSqliteJobs(options: { file: string; clock: Clock; onFault: ReportFault }): Jobs {
  const { file, clock, onFault } = options
  // A power cut may lose the last commits. With a job, the marks that were stored after it are lost too, so its event becomes a job again.
  const db = openSqlite({ file, synchronous: 'NORMAL', formats, overwrites: true })
  const setBack = db.prepare<[number]>(`UPDATE jobs SET due = due - ? WHERE state IN ('queued', 'leased')`)
  let last = clock.now().getTime()
  const queue: Queue = {
    ...takingStatements(db),
    ...jobStatements(db),
    db,
    workers: new Set(),
    onFault,
    now: () => {
      const at = clock.now().getTime()
      // If the clock was set back, what is due already would wait until the clock has caught up.
      if (at < last - setBackMs) setBack.run(last - at)
      last = at
      return at
    },
    swept: 0,
  }
  // Nothing stays due in the future: the clock may have been set back since.
  db.prepare<[number]>(
    `UPDATE jobs SET state = 'queued', due = min(due, ?) WHERE state IN ('queued', 'leased')`,
  ).run(last)

  return {
    put: (job) => putJob(queue, job),

    work: (kind, options, handle) => startWorker(queue, kind, options, handle),

    stateOf: async (id) => queue.stateOf.get(id)?.[0],
    mark: async (name, position) => {
      queue.setMark.run(name, position)
    },
    marked: async (name) => queue.getMark.get(name)?.[0] ?? null,
    pending: async (kind) => queue.countOpen.get(kind)?.[0] ?? 0,
    rejected: async (kind, limit) =>
      queue.listRejected
        .all(kind, Math.max(0, limit))
        .map(([id, payload, reason, person]) => ({ job: jobOf(id, kind, payload, person), reason })),
    requeue: async (id) => {
      const row = queue.bringBack.get(queue.now(), id)
      if (row !== undefined) wakeWorkers(queue, row[0])
      return row !== undefined
    },
    ready: async () => {
      queue.nextDue.get('', 0)
    },
    close: async () => {
      // Stopping is not awaited, because a handler may run for hours. Its calls fail after the file is closed.
      for (const worker of queue.workers) void worker.stop()
      db.close()
    },
  }
}

function takeJob(queue: Queue, kind: string, at: number, leaseMs: number, most: number): Lease | undefined {
  return queue.db.transaction(() => {
    const found = queue.next.get(kind, at, most)
    if (found === undefined) return undefined
    const [seq, person] = found
    if (person !== '') queue.noteTurn.run(kind, person, at)
    return queue.lease.get(at + leaseMs, seq)
  })
}

function wakeWorkers(queue: Queue, kind: string): void {
  for (const worker of queue.workers) if (worker.kind === kind) worker.wake()
}

function deliveryOf(
  queue: Queue,
  kind: string,
  leaseMs: number,
  [id, payload, attempt, lease, person]: Lease,
  onWaits: (isWaiting: boolean) => void,
): Delivery {
  return {
    job: jobOf(id, kind, payload, person),
    attempt,
    working: async () => {
      if (queue.renew.run(queue.now() + leaseMs, id, lease).changes === 0) {
        throw new LeaseLost(`The lease of job ${id} was lost at attempt ${attempt}.`)
      }
    },
    waits: (isWaiting) => {
      queue.setWaits.run(isWaiting ? 1 : 0, id, lease)
      onWaits(isWaiting)
    },
    ack: async () => {
      queue.finish.run(queue.now(), id, lease)
    },
    nak: async (delayMs) => {
      queue.giveBack.run(queue.now() + delayMs, id, lease)
      wakeWorkers(queue, kind)
    },
    reject: async (fault) => {
      queue.setAside.run(queue.now(), traceOf(fault), id, lease)
    },
  }
}

async function putJob(queue: Queue, { id, kind, person = '', payload }: Job): Promise<void> {
  if (queue.now() - queue.swept > sweepIntervalMs) {
    queue.swept = queue.now()
    queue.forgetDone.run(queue.swept - doneKeptMs)
    queue.forgetRejected.run(queue.swept - rejectedKeptMs)
    queue.forgetTurns.run(queue.swept - doneKeptMs)
  }
  queue.insert.run(id, kind, person, JSON.stringify(payload), queue.now())
  wakeWorkers(queue, kind)
}

/** Delivers due jobs of a kind to `handle` while fewer than `concurrency` run, not counting those that wait. */
function startWorker(
  queue: Queue,
  kind: string,
  { concurrency, leaseMs }: { concurrency: number; leaseMs: number },
  handle: (delivery: Delivery) => Promise<void>,
): Worker {
  const worker: RunningWorker = {
    queue,
    kind,
    concurrency,
    leaseMs,
    handle,
    running: new Set(),
    waiting: new Set(),
    isStopped: false,
    timer: undefined,
    timerAt: Infinity,
    failures: 0,
  }
  const listed: QueueWorker = {
    kind,
    wake: () => wakeIn(worker, 0),
    stop: async () => {
      worker.isStopped = true
      clearTimeout(worker.timer)
      queue.workers.delete(listed)
      await Promise.all(worker.running)
    },
  }
  queue.workers.add(listed)
  listed.wake()
  return { stop: listed.stop }
}

interface RunningWorker {
  readonly queue: Queue
  readonly kind: string
  readonly concurrency: number
  readonly leaseMs: number
  readonly handle: (delivery: Delivery) => Promise<void>
  readonly running: Set<Promise<void>>
  /**
   * Running deliveries that wait for a person and take no slot meanwhile. Not the ids of their jobs, because a delivery that lost its lease may still
   * run beside the next one of its job.
   */
  readonly waiting: Set<object>
  isStopped: boolean
  timer: NodeJS.Timeout | undefined
  /** When the timer fires, in ms of `performance.now()`. */
  timerAt: number
  failures: number
}

/** Takes jobs while there are free slots and due jobs. */
function takeAll(worker: RunningWorker): void {
  const { queue, kind, concurrency, leaseMs, running, waiting } = worker
  while (running.size - waiting.size < concurrency) {
    // Reads the clock only once. With two readings, both queries would miss a job that becomes due in between.
    const at = queue.now()
    const row = takeJob(queue, kind, at, leaseMs, placesOfOne(concurrency))
    if (row === undefined) {
      const due = queue.nextDue.get(kind, at)?.[0] ?? null
      if (due !== null) wakeIn(worker, due - at)
      return
    }
    const place = {}
    const onWaits = (isWaiting: boolean) => {
      if (isWaiting) waiting.add(place)
      else waiting.delete(place)
      wakeIn(worker, 0)
    }
    const delivery = deliver(worker, deliveryOf(queue, kind, leaseMs, row, onWaits))
      .catch((fault: unknown) =>
        queue.onFault(`Job ${row[0]} (${kind}) comes again when its lease runs out`, fault),
      )
      .finally(() => {
        running.delete(delivery)
        waiting.delete(place)
        wakeIn(worker, 0)
      })
    running.add(delivery)
  }
}

async function deliver({ queue, kind, handle }: RunningWorker, delivery: Delivery): Promise<void> {
  try {
    await handle(delivery)
  } catch (fault) {
    const { job, attempt } = delivery
    queue.onFault(`Job ${job.id} (${kind}) failed at attempt ${attempt} and is given back`, fault)
    await delivery.nak(pauseAfter(attempt))
  }
}

/** Makes the worker look for jobs in `ms` milliseconds, unless its timer already fires earlier. */
function wakeIn(worker: RunningWorker, ms: number): void {
  const waitMs = Math.min(Math.max(ms, 0), longestTimerMs)
  const at = performance.now() + waitMs
  // The earlier timer stays: if it were postponed repeatedly, it would never fire.
  if (worker.isStopped || worker.timerAt <= at) return
  clearTimeout(worker.timer)
  worker.timerAt = at
  worker.timer = setTimeout(() => {
    worker.timerAt = Infinity
    try {
      takeAll(worker)
      worker.failures = 0
    } catch (fault) {
      worker.queue.onFault(`No job of kind ${worker.kind} could be taken`, fault)
      worker.failures += 1
      wakeIn(worker, pauseAfter(worker.failures))
    }
  }, waitMs)
}

function jobOf(id: string, kind: string, payload: string, person: string): Job {
  const parsed: Job['payload'] = JSON.parse(payload)
  return { id, kind, ...(person === '' ? {} : { person }), payload: parsed }
}
