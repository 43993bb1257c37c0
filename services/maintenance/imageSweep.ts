/** Discards uploaded images after some time: bytes, key and name. Messages have copies under their tasks' keys. */
import { image } from '#domain/image.ts'
import { imageStream, scopeOfStream } from '#domain/kernel/streams.ts'
import { imagesView } from '#domain/views/images.ts'
import type { Engines } from '#platform/compose.ts'
import { eachAlone } from '#platform/async/eachAlone.ts'
import { repeat } from '#platform/async/rounds.ts'
import { pagesOf } from '#platform/reads/documentPages.ts'
import { NotFolded } from '#platform/ports/faults.ts'
import type { RunningWork } from '#platform/ports/leases.ts'

export type SweepEngines = Pick<
  Engines,
  'commands' | 'documents' | 'blobs' | 'vault' | 'clock' | 'ids' | 'logger'
>

export interface SweepTimes {
  /** How long an upload is kept, in ms; a day by default. */
  readonly keptMs: number
  /** The time between two sweeps, in ms; a minute by default. */
  readonly intervalMs: number
}

const usual: SweepTimes = { keptMs: 86_400_000, intervalMs: 60_000 }
const batch = 100

/** Sweeps until it is stopped. */
export const startImageSweep = (engines: SweepEngines, times: SweepTimes = usual): RunningWork =>
  repeat(async (signal) => {
    await sweepImages(engines, times.keptMs, signal).catch((fault: unknown) => {
      // `NotFolded` means that read models are being built: the next sweep tries again.
      if (!(fault instanceof NotFolded)) engines.logger.error({ err: fault }, 'failed to discard images')
    })
    return times.intervalMs
  })

/** Discards every image that was uploaded more than `keptMs` ago, the oldest first. An interrupted sweep is repeated from the start. */
export async function sweepImages(
  engines: SweepEngines,
  keptMs: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const before = engines.clock.now().getTime() - keptMs
  for await (const found of pagesOf(engines.documents, imagesView, { where: {}, limit: batch })) {
    const over = found.filter(({ uploadedAt }) => Date.parse(uploadedAt) <= before)
    await eachAlone(over, async ({ id }) => signal.aborted || discardImage(engines, id), {
      logger: engines.logger,
      what: 'failed to discard an image',
      name: ({ id }) => ({ stream: imageStream(id) }),
    })
    if (signal.aborted || over.length < found.length) return
  }
}

/**
 * Discards an image, unless that was done before. The event is recorded last, so that an interrupted attempt is repeated; each step may be repeated.
 */
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
