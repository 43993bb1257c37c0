/** Discards uploaded images when their time is over: bytes, key and name. What messages have are copies under their tasks' keys. */
import { setTimeout as pause } from 'node:timers/promises'
import { image } from '#domain/image.ts'
import { imageStream, scopeOfStream } from '#domain/kernel/streams.ts'
import { imagesView } from '#domain/views/images.ts'
import { eachAlone } from '#platform/async/eachAlone.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import type { Logger } from '#platform/log.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { NotFolded } from '#platform/ports/faults.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { Held } from '#platform/ports/leases.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface SweepEngines {
  readonly commands: Commands
  readonly documents: Documents
  readonly blobs: SealedBlobs
  readonly vault: Pick<Vault, 'destroy'>
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
}

export interface SweepTimes {
  /** Since the upload, in ms; a day by default. */
  readonly keptMs: number
  /** Between two sweeps, in ms; a minute by default. */
  readonly everyMs: number
}

const usual: SweepTimes = { keptMs: 86_400_000, everyMs: 60_000 }
const batch = 100

/** Sweeps until it is stopped. */
export async function startImageSweep(engines: SweepEngines, times: SweepTimes = usual): Promise<Held> {
  const stopping = new AbortController()
  const { signal } = stopping
  const swept = (async () => {
    while (!signal.aborted) {
      await sweepImages(engines, times.keptMs, signal).catch((fault: unknown) => {
        // Read models that are being built are looked through the next time.
        if (!(fault instanceof NotFolded)) engines.logger.error({ err: fault }, 'failed to discard images')
      })
      await pause(times.everyMs, undefined, { signal }).catch(() => undefined)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await swept
    },
  }
}

/** Discards every image that was uploaded more than `keptMs` ago, the oldest first. A sweep that is interrupted is done again from the start. */
export async function sweepImages(
  engines: SweepEngines,
  keptMs: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const before = engines.clock.now().getTime() - keptMs
  let last: { readonly value: string; readonly id: string } | undefined
  while (!signal.aborted) {
    const found = await engines.documents.find(imagesView, {
      where: {},
      sort: { field: 'order', direction: 'ascending' },
      limit: batch,
      ...(last === undefined ? {} : { after: last }),
    })
    const over = found.filter(({ uploadedAt }) => Date.parse(uploadedAt) <= before)
    await eachAlone(over, async ({ id }) => signal.aborted || discardImage(engines, id), {
      logger: engines.logger,
      what: 'failed to discard an image',
      name: ({ id }) => ({ stream: imageStream(id) }),
    })
    const end = over.at(-1)
    if (!end || over.length < batch) return
    last = { value: end.order, id: end.id }
  }
}

/** Does nothing when the image is gone. The event comes last, so that an interrupted attempt is found again; each step may be repeated. */
export async function discardImage(
  { commands, blobs, vault, ids }: Pick<SweepEngines, 'commands' | 'blobs' | 'vault' | 'ids'>,
  imageId: string,
): Promise<void> {
  const stream = imageStream(imageId)
  const { state } = await commands.load(image, stream)
  if (state.kind !== 'kept') return
  await vault.destroy(scopeOfStream(stream))
  await blobs.remove(state.blob)
  const cause = { actor: { kind: 'system', service: 'command' }, commandId: ids.uuid() } as const
  await commands.execute(image, stream, { type: 'DiscardImage' }, cause)
}
