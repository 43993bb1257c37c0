/**
 * Attaches images to a message: copies them, encrypted with the task's key, and removes the copies if the message is refused or was recorded before.
 */
import { v5 as uuidv5 } from 'uuid'
import { imageTexts } from '#domain/api/images.ts'
import { image, type KeptImage } from '#domain/image.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Actor } from '#domain/kernel/event.ts'
import { imageStream, scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { NamedImage } from '#domain/task/commands.ts'
import type { TaskState } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import type { Commands, Executed } from '#platform/commands/execute.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'

interface Services {
  readonly commands: Commands
  readonly blobs: SealedBlobs
}

/** The ids of the images that a message gets, and the request that sends the message. */
export interface Attaching {
  readonly taskId: string
  readonly messageId: string
  readonly imageIds: readonly string[]
  readonly request: {
    readonly actor: Actor
    readonly user: { readonly id: string }
    readonly commandId: string
  }
}

/**
 * Copies the images, and calls `execute` with the copies to record the message. Throws `invalid_input` for the field `images.N` when an image is
 * unknown, was discarded or belongs to somebody else, with the same sentence for all three. If the command already took effect, no images are copied,
 * because they may have been discarded since.
 */
export async function withImages(
  services: Services,
  attaching: Attaching,
  execute: (images: readonly NamedImage[]) => Promise<Executed<TaskState>>,
): Promise<Executed<TaskState>> {
  const { taskId, imageIds, request } = attaching
  if (imageIds.length === 0) return execute([])
  const stream = taskStream(taskId)
  if (await services.commands.hasTakenEffect(task, stream, request.commandId)) return execute([])
  const scope = scopeOfStream(stream)
  const copies: NamedImage[] = []
  const takeBack = () => Promise.all(copies.map(({ blob }) => services.blobs.remove(blob)))
  let executed: Executed<TaskState>
  try {
    for (const [index, imageId] of imageIds.entries())
      copies.push(await copied(services, { imageId, index, scope, owner: request.user.id }))
    executed = await execute(copies)
  } catch (fault) {
    // After any error but a `Fault`, it is unknown whether the message was recorded, so the copies stay.
    if (fault instanceof Fault) await takeBack()
    throw fault
  }
  if (executed.repeated) await takeBack()
  else await note(services, attaching)
  return executed
}

async function copied(
  { commands, blobs }: Services,
  wanted: {
    readonly imageId: string
    readonly index: number
    readonly scope: string
    readonly owner: string
  },
): Promise<NamedImage> {
  const { imageId, index, scope, owner } = wanted
  const from = imageStream(imageId)
  const { state } = await commands.load(image, from)
  const kept = state.kind === 'kept' && state.ownerId === owner ? state : undefined
  const bytes = kept && (await blobs.get(scopeOfStream(from), kept.blob))
  if (!kept || !bytes) throw new Fault('invalid_input', imageTexts.missing, `images.${index}`)
  return { ...factsOf(kept), blob: await blobs.put(scope, bytes) }
}

function factsOf({ imageId, mediaType, width, height, blob, uploadedAt, name }: KeptImage): NamedImage {
  return { imageId, mediaType, width, height, blob, uploadedAt, name }
}

/**
 * Records in the streams of the uploaded images that they were attached. If this fails, the message still has its images, and the uploads are
 * discarded later as if they had never been attached.
 */
async function note(
  { commands }: Services,
  { taskId, messageId, imageIds, request: { actor, commandId } }: Attaching,
): Promise<void> {
  for (const imageId of imageIds) {
    // Event ids are derived from the command id. The message already uses the request's command id, so each image gets a command id of its own.
    const cause = { actor, commandId: uuidv5(imageId, commandId) }
    const attach = { type: 'AttachImage', taskId, messageId } as const
    await commands.execute(image, imageStream(imageId), attach, cause).catch(() => undefined)
  }
}
