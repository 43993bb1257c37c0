/** Prepares what an agent gets with a message: the images of the message, and the conversation so far if the agent has no session. */
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { NamedImage } from '#domain/task/commands.ts'
import { unlessDamaged, type SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { openDecoder } from '#platform/images/decoder.ts'
import type { AgentImage } from '../../agents/port.ts'

/**
 * The largest image for an agent. An image stays in the session, so if the model's API refused it, each later turn would fail too. The API accepts 5
 * MB of base64 per image, 32 MB per request, and 2,000 pixels a side in requests with many images.
 */
const largest = { side: 2_000, bytes: 1_500_000 }
const quality = 85

/** The images in order, converted if they do not fit; `undefined` when one of them is missing or damaged. */
export async function imagesForAgent(
  { blobs }: { readonly blobs: Pick<SealedBlobs, 'get'> },
  taskId: string,
  images: readonly NamedImage[],
): Promise<readonly AgentImage[] | undefined> {
  const scope = scopeOfStream(taskStream(taskId))
  const given: AgentImage[] = []
  for (const image of images) {
    const bytes = await unlessDamaged(blobs.get(scope, image.blob))
    if (!bytes) return undefined
    given.push(fits(image) ? unchanged(bytes, image) : await resized(bytes))
  }
  return given
}

function fits({ mediaType, width, height, blob }: NamedImage): boolean {
  // Not every model takes a GIF: those of Gemini refuse the whole request.
  return mediaType !== 'image/gif' && Math.max(width, height) <= largest.side && blob.size <= largest.bytes
}

function unchanged(bytes: Uint8Array, { mediaType }: NamedImage): AgentImage {
  return { mediaType, base64: Buffer.from(bytes).toString('base64') }
}

/** Scales an image down to the largest size for agents. Keeps only the first frame of an animation, as models see no more. */
async function resized(bytes: Uint8Array): Promise<AgentImage> {
  const sharp = await openDecoder()
  const { side } = largest
  const written = await sharp(bytes)
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .webp({ quality })
    .toBuffer()
  return { mediaType: 'image/webp', base64: written.toString('base64') }
}

/** The message with the conversation before it; if there was none, the message alone. */
export function withTranscript(message: string, transcript: string): string {
  if (transcript === '') return message
  return `Earlier in this task:\n\n${transcript}\n\nThe message to work on now:\n\n${message}`
}
