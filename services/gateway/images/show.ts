/** Shows an image to whoever has a good address of it: an `<img>` brings no token. */
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { grantName, type ImageAddresses } from '#platform/images/addresses.ts'
import { dispositionOf } from './fileName.ts'

/** Answers `GET /api/images/:imageId`; 404 for an address that is not good, and for bytes that are gone, with nothing that tells which. */
export function showImage({
  blobs,
  imageAddresses,
}: {
  readonly blobs: SealedBlobs
  readonly imageAddresses: ImageAddresses
}): Middleware<object, { params: { imageId?: string } }> {
  return async (context) => {
    const { imageId = '' } = context.params
    const grant = context.query[grantName]
    const opened = typeof grant === 'string' ? imageAddresses.openedBy(imageId, grant) : undefined
    const bytes = opened && (await blobs.get(opened.image.scope, opened.image.blob))
    if (!opened || !bytes) throw new Fault('not_found', 'There is no such image, or its link has expired.')
    context.set({
      'content-type': opened.image.mediaType,
      'content-disposition': dispositionOf(opened.image.name),
      // Opened by itself it is a picture and nothing else, whatever a browser would make of it.
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': `private, max-age=${opened.secondsLeft}`,
    })
    context.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
}
