/** An operator's commands: list failed jobs and queue one again, check the log, list or replace its keys, begin a new epoch, rebuild read models. */
import { setTimeout as pause } from 'node:timers/promises'
import { views } from '#domain/views/registry.ts'
import type { Engines } from '#platform/compose.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Blobs } from '#platform/ports/blobs.ts'
import { changeCatalog, type Catalog, type ReadStore } from '#platform/ports/readStore.ts'
import { identityInFile, type SealsFile } from '#platform/seals/sealsFile.ts'
import { restoreLog } from '#platform/seals/nextEpoch.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import { digestThreads } from '#platform/verify/digestThreads.ts'
import { verifyLog, type Verified } from '#platform/verify/verify.ts'
import type { OperationResult } from './operation.ts'
import { listSeals, replaceKey } from './sealCommands.ts'

/** The kinds of jobs. The queue stores failed jobs by kind. */
const kinds = ['execution', 'pull_request', 'erasure'] as const
const maxShown = 1_000

/** Thrown for an unknown command. */
export class UnknownWords extends Error {
  override readonly name = 'UnknownWords'
  /** The command that has the unknown words. */
  readonly command: string
  constructor(message: string, command: string) {
    super(message)
    this.command = command
  }
}

/** The services that an operation uses. `progress` shows a line in place of the previous one. */
export interface Operating extends Pick<
  Engines,
  'jobs' | 'eventStore' | 'readStore' | 'vault' | 'logIdentity' | 'logDamage' | 'clock'
> {
  readonly log: Pick<EventLog, 'read'>
  readonly commands: Pick<Commands, 'load' | 'execute'>
  readonly blobs: Pick<Blobs, 'check'>
  readonly sealsFile: Pick<SealsFile, 'all' | 'newest'>
  readonly progress: (line: string) => void
}

/** An operator's command that needs the opened engines, such as the event store and the job queue. */
export type Operation = (engines: Operating) => Promise<OperationResult>

/**
 * The operation for the words of a command: `verify`, `restored`, `jobs`, `jobs requeue <id>`, `seals` or `seals new-key`, which the help text
 * explains. `undefined` without words. Throws `UnknownWords` before anything is opened.
 */
export function operationOf(words: readonly string[]): Operation | undefined {
  const [subject, verb, id, ...rest] = words
  if (subject === undefined) return undefined
  if (subject === 'verify' && verb === undefined) return verified
  if (subject === 'restored' && verb === undefined) return restored
  if (subject === 'jobs' && verb === undefined) return listed
  if (subject === 'seals' && verb === undefined) return listSeals
  if (subject === 'seals' && verb === 'new-key' && id === undefined) return replaceKey
  if (subject !== 'jobs' || verb !== 'requeue' || id === undefined || rest.length > 0)
    throw new UnknownWords(`${words.join(' ')}: there is no such command.`, subject)
  return async ({ jobs }) => ({
    lines: [(await jobs.requeue(id)) ? `${id} is queued again.` : `No job ${id} was set aside.`],
  })
}

async function verified(operating: Operating): Promise<OperationResult> {
  const { eventStore, vault, blobs, readStore, sealsFile, logIdentity: identity, progress } = operating
  const threads = digestThreads()
  try {
    const found = await verifyLog(
      { eventStore, vault, blobs },
      threads.digest,
      (count) => progress(`${count} events checked`),
      {
        identity,
        readStore,
        outside: () => sealsFile.all(),
        keysOf: async (epoch) => (await signingKeys(vault, { ...identity, epoch }))?.vouched ?? [],
      },
    )
    const { events, streams, erased, findings, more, sealing } = found
    const sealed =
      sealing && sealing.seals > 0
        ? `${sealing.seals} seals hold; the newest is over ${sealing.sealed} events.${outsideOf(sealing.outside)}`
        : 'It was never sealed.'
    const summary = `${events} events in ${streams} streams were checked; the content of ${erased} was erased. ${blobsOf(found)}${sealed}`
    const told = sealing?.told ?? []
    if (findings.length === 0) return { lines: [`The log is whole: ${summary}`, ...told] }
    return {
      failed: true,
      lines: [
        ...findings.map(({ sentence }) => sentence),
        ...(more > 0 ? [`${more} more are not listed.`] : []),
        ...told,
        `The log is not whole: ${summary}`,
      ],
    }
  } finally {
    await threads.close()
  }
}

const blobsOf = ({ blobs, erasedBlobs }: Pick<Verified, 'blobs' | 'erasedBlobs'>): string =>
  blobs + erasedBlobs === 0 ? '' : `${blobs} blobs are whole; ${erasedBlobs} were erased. `

/** A sentence for a log without seals outside of it: then nothing shows whether the end of the log was cut off. */
const outsideOf = (outside: number): string =>
  outside > 0
    ? ''
    : ' No seal was found outside of the log: if its end was cut, this cannot show it. Look for the file of seals (SEALS_FILE).'

/** Begins an epoch above those of the read models and of the file of seals, so that restoring the same backup twice never reuses an epoch. */
async function restored({ readStore, ...operating }: Operating): Promise<OperationResult> {
  // Read models of the previous log must not be used before they are rebuilt from this log.
  const { log } = await changeCatalog(readStore, (catalog) => ({ ...catalog, live: {}, building: null }))
  const sealed = await identityInFile(operating.sealsFile)
  const sealedEpoch = sealed?.logId === operating.logIdentity.logId ? sealed.epoch : 0
  const { logId, epoch } = await restoreLog(operating, Math.max(log?.epoch ?? 0, sealedEpoch))
  return {
    lines: [
      `Log ${logId} goes on in epoch ${epoch}: read models are rebuilt at the next start, and what is open is queued from the log.`,
    ],
  }
}

const names = views.map(({ collection }) => collection)
const pollIntervalMs = 300
/** The rebuilder checks for requests and reports its progress every second, so a longer silence means that it is not running. */
const defaultSilenceMs = 15_000

/** The services of an operation that uses only the read models, and can therefore run while the product is running. */
export interface ReadModelContext {
  readonly readStore: Pick<ReadStore, 'catalog' | 'replaceCatalog'>
  readonly progress: Operating['progress']
}

/**
 * The operation `rebuild`, which rebuilds one or all read models; `undefined` for other words, which are for `operationOf`. Throws `UnknownWords`.
 */
export function readModelOperationOf(
  [subject, name, ...rest]: readonly string[],
  maxSilenceMs = defaultSilenceMs,
): ((context: ReadModelContext) => Promise<OperationResult>) | undefined {
  if (subject !== 'rebuild') return undefined
  if (rest.length > 0)
    throw new UnknownWords(`rebuild ${name} ${rest.join(' ')}: there is no such command.`, subject)
  if (name !== undefined && !names.includes(name))
    throw new UnknownWords(`${name} is no read model. There are: ${names.join(', ')}.`, subject)
  return (context) => rebuilt(context, name === undefined ? names : [name], maxSilenceMs)
}

/** Requests the rebuild and reports its progress until it is done, or until there was no progress for `silentMs`. The projector does the work. */
async function rebuilt(
  { readStore, progress }: ReadModelContext,
  collections: readonly string[],
  silentMs: number,
): Promise<OperationResult> {
  const requested = await changeCatalog(readStore, (catalog) => ({
    ...catalog,
    wanted: [...new Set([...catalog.wanted, ...collections])],
  }))
  let seen: Catalog = requested
  for (let heardAt = performance.now(); performance.now() - heardAt < silentMs;) {
    await pause(pollIntervalMs)
    const catalog = await readStore.catalog()
    if (catalog.revision === seen.revision) continue
    heardAt = performance.now()
    seen = catalog
    if (collections.every((name) => !catalog.wanted.includes(name)))
      return { lines: [`${collections.join(', ')}: rebuilt from the log.`] }
    if (catalog.building) progress(howFar(catalog.building))
  }
  return {
    lines: [
      `${collections.join(', ')}: asked for. No process makes it now; the next one that does is the next start of Flightdeck.`,
    ],
  }
}

function howFar({ events, position, head }: NonNullable<Catalog['building']>): string {
  const share = head === null || Number(head) === 0 ? 1 : Math.min(Number(position ?? 0) / Number(head), 1)
  return `${events} events folded, ${Math.floor(share * 100)} % of the log`
}

async function listed({ jobs }: Operating): Promise<OperationResult> {
  const lines: string[] = []
  for (const kind of kinds) {
    for (const { job, reason } of await jobs.rejected(kind, maxShown)) {
      const payload = Object.entries(job.payload).map(([name, value]) => `${name}=${value}`)
      // A reason may have a stack trace, of which only the first line is shown.
      lines.push([job.id, kind, ...payload, reason.split('\n')[0]].join('  '))
    }
  }
  return { lines: lines.length > 0 ? lines : ['No job was set aside.'] }
}
