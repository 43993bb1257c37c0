/** Handles the upload of an image: checks the limits, reads the form, checks the image, stores the blob, records the event, and answers. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Context, Middleware } from 'koa'
import { v5 as uuidv5 } from 'uuid'
import { imageLimits } from '#domain/api/images.ts'
import { uploadImage, type ShownImage } from '#domain/api/images.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { image, type ImageState, type KeptImage } from '#domain/image.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { imageStream, scopeOfStream } from '#domain/kernel/streams.ts'
import { imagesView } from '#domain/views/images.ts'
import type { Loaded } from '#platform/commands/execute.ts'
import type { Bodies } from '#platform/http/bodies.ts'
import { signedIn } from '#platform/http/guards.ts'
import { keyedCommandId } from '#platform/http/route.ts'
import type { Identity } from '#platform/http/session.ts'
import { requestIdOf } from '#platform/telemetry/requests.ts'
import type { GatewayServices } from '../services.ts'
import type { CheckImage } from '#platform/images/reencode.ts'
import { readImageForm, type ImageFile } from './uploadForm.ts'
import { nameOf } from './fileName.ts'
import { limitConcurrency } from '#platform/async/queue.ts'

/** The time in which the form must arrive. It is shorter than the request's own time limit, so that the answer can say that the form was too slow. */
const formMs = 25_000
const lettingGoMs = 5_000
const projectionTimeoutMs = 2_000

interface Upload {
  readonly userId: string
  readonly imageId: string
  readonly commandId: string
  readonly requestId: string
}

/** Answers `POST /api/upload/image`. */
export function receiveImage(parts: {
  readonly services: GatewayServices
  readonly bodies: Bodies
  readonly limits: UploadLimits
  readonly checkImage: CheckImage
}): Middleware {
  const { services, bodies, limits, checkImage } = parts
  const { commands, blobs, documents, idempotency, projected, imageAddresses } = services
  const load = (imageId: string) => commands.load(image, imageStream(imageId))

  async function answer(context: Context): Promise<AnswerOf<typeof uploadImage>> {
    const identity: Identity | null = context.state.identity ?? null
    const { user, sessionId } = await signedIn({ identity: identity }, services)
    if (services.ballast.isFull()) throw new Fault('disk_full')
    const keyed = keyedCommandId(context, { userId: user.id, sessionId })
    const commandId = keyed ?? services.ids.uuid()
    const upload: Upload = {
      userId: user.id,
      imageId: uuidv5('image', commandId),
      commandId,
      requestId: requestIdOf(context) ?? services.ids.uuid(),
    }
    return limits.upload(user.id, async () => {
      // Only a new upload can be refused here; a repeated one gets the first answer again.
      if ((await load(upload.imageId)).state.kind === 'none') await refuseTooMany(user.id)
      const file = await readImageForm(context.req, formMs, (refuse) => bodies.watch(context, refuse))
      if (keyed !== undefined) await accept(upload, file)
      const known = await load(upload.imageId)
      const { state, position } = known.state.kind === 'none' ? await keep(upload, file) : known
      if (state.kind !== 'kept')
        throw new Fault(
          'not_found',
          'This image was deleted because it was not attached to a message within a day.',
        )
      if (position === null) return shown(state)
      const isProjected = await projected.waitFor(position, projectionTimeoutMs)
      return { ...shown(state), position, ...(isProjected ? {} : { stale: true }) }
    })
  }

  async function refuseTooMany(owner: string): Promise<void> {
    if ((await documents.count(imagesView, { owner, isWaiting: true })) < imageLimits.waiting) return
    throw new Fault(
      'rate_limited',
      '100 of your images are not attached to anything yet. Unattached images are deleted after a day.',
      undefined,
      { retryAfterSeconds: 3_600 },
    )
  }

  function accept({ commandId, userId }: Upload, { name, bytes }: ImageFile) {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return idempotency.accept(commandId, userId, { name, sha256 })
  }

  async function keep(upload: Upload, file: ImageFile): Promise<Loaded<ImageState>> {
    const { imageId, userId, commandId, requestId } = upload
    const { bytes, mediaType, width, height } = await limits.decode(() => checkImage(file.bytes))
    const stream = imageStream(imageId)
    const blob = await blobs.put(scopeOfStream(stream), bytes)
    const facts = { imageId, ownerId: userId, mediaType, width, height, blob }
    const command = { type: 'UploadImage', image: facts, name: nameOf(file.name, mediaType) } as const
    const cause = { actor: { kind: 'user', userId }, commandId, correlationId: requestId } as const
    const executed = await commands.execute(image, stream, command, cause)
    // The same upload arrived twice at once, and the other request was recorded first. Its blob is used.
    if (executed.repeated) await blobs.remove(blob)
    return executed
  }

  function shown({ imageId, mediaType, name, blob }: KeptImage): ShownImage {
    const scope = scopeOfStream(imageStream(imageId))
    const url = imageAddresses.addressOf({ imageId, scope, blob, mediaType, name })
    return { id: imageId, url, name, size: blob.size, type: mediaType }
  }

  return async (context) => {
    try {
      context.body = await answer(context)
      context.status = uploadImage.status
    } finally {
      letGo(context.req)
    }
  }
}

/** Reads the rest of the body for a short time after responding, so that the client can read the response. */
function letGo(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  request.resume()
  const hurry = setTimeout(() => request.destroy(), lettingGoMs)
  request.once('close', () => clearTimeout(hurry))
}

interface UploadLimits {
  /** Runs the work, and counts it as an upload of the person until it ends. Throws `rate_limited` when there are too many uploads at once. */
  upload<T>(userId: string, work: () => Promise<T>): Promise<T>
  decode<T>(work: () => Promise<T>): Promise<T>
}

/** The maximum number of simultaneous uploads. Each holds a whole file of up to 10 MiB in memory, also while it waits to be decoded. */
const underWay = { ofAll: 20, ofOnePerson: 5 }
const decodedAtOnce = 2
const retryAfterSeconds = 5

export function uploadLimits(most = { ...underWay, decodedAtOnce }): UploadLimits {
  const entered = new Map<string, number>()
  let all = 0

  return {
    async upload(userId, work) {
      const own = entered.get(userId) ?? 0
      if (all >= most.ofAll || own >= most.ofOnePerson) {
        const sentence = 'Too many images are being uploaded. Wait a moment.'
        throw new Fault('rate_limited', sentence, undefined, { retryAfterSeconds })
      }
      all += 1
      entered.set(userId, own + 1)
      try {
        return await work()
      } finally {
        all -= 1
        const left = (entered.get(userId) ?? 1) - 1
        if (left === 0) entered.delete(userId)
        else entered.set(userId, left)
      }
    },
    decode: limitConcurrency(most.decodedAtOnce),
  }
}
