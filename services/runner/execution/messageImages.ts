/** The images of a message as an agent is given them: opened, and made smaller where a model's API would refuse them. */
import { scopeOfStream, taskStream } from '#domain/kernel/ids.ts'
import type { NamedImage } from '#domain/task/commands.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { openDecoder } from '#platform/images/decoder.ts'
import type { AgentImage } from '../agents/port.ts'

/**
 * A refused image would be refused again in each turn of the session that it is in. The API takes 5 MB of base64 an image, 32 MB a request,
 * and 2,000 pixels a side in requests with many.
 */
const largest = { side: 2_000, bytes: 1_500_000 }
const quality = 85

/** The images, in order; `undefined` when one of them is gone. */
export async function imagesForAgent(
  { blobs }: { readonly blobs: Pick<SealedBlobs, 'get'> },
  taskId: string,
  images: readonly NamedImage[],
): Promise<readonly AgentImage[] | undefined> {
  const scope = scopeOfStream(taskStream(taskId))
  const given: AgentImage[] = []
  for (const image of images) {
    const bytes = await blobs.get(scope, image.blob)
    if (!bytes) return undefined
    given.push(fits(image) ? asIs(bytes, image) : await smaller(bytes))
  }
  return given
}

function fits({ width, height, blob }: NamedImage): boolean {
  return Math.max(width, height) <= largest.side && blob.size <= largest.bytes
}

function asIs(bytes: Uint8Array, { mediaType }: NamedImage): AgentImage {
  return { mediaType, base64: Buffer.from(bytes).toString('base64') }
}

/** Of an animation the first frame: no model sees more. */
async function smaller(bytes: Uint8Array): Promise<AgentImage> {
  const sharp = await openDecoder()
  const { side } = largest
  const written = await sharp(bytes)
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .webp({ quality })
    .toBuffer()
  return { mediaType: 'image/webp', base64: written.toString('base64') }
}
