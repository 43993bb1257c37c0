/** The routes of images, which are uploaded as a form and served as files; artifacts are served like them. */
import { Router } from '@koa/router'
import type { Middleware } from 'koa'
import { imageRoutes as routes } from '#domain/api/images.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Bodies } from '#platform/http/bodies.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { grantName, type ImageAddresses } from '#platform/images/addresses.ts'
import { requestedRange } from './byteRange.ts'
import { dispositionOf } from './fileName.ts'
import type { GatewayServices } from '../services.ts'
import { checkImage } from '#platform/images/reencode.ts'
import { uploadLimits, receiveImage } from './upload.ts'

export function imageRoutes(services: GatewayServices, bodies: Bodies): Middleware {
  const router = new Router({ prefix: '/api', sensitive: true })
  router.post(routes.uploadImage.path, receiveImage({ services, bodies, limits: uploadLimits(), checkImage }))
  router.get(routes.showImage.path, showImage(services))
  const dispatch = router.routes()
  return (context, next) => dispatch(context as Parameters<typeof dispatch>[0], next)
}

/**
 * Answers `GET /api/images/:imageId` to anybody with a valid link, since an `<img>` or `<video>` sends no token. The answer is 404 both for an
 * invalid link and for deleted bytes.
 */
function showImage({
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
    const { mediaType, name } = opened.image
    context.set({
      'content-type': mediaType === 'text/plain' ? 'text/plain; charset=utf-8' : mediaType,
      'content-disposition': dispositionOf(
        name,
        mediaType.startsWith('application/') ? 'attachment' : 'inline',
      ),
      'accept-ranges': 'bytes',
      // If the file is opened by itself, the next two headers prevent a browser from running anything in it.
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': `private, max-age=${opened.secondsLeft}`,
    })
    const range = requestedRange(context.get('range'), bytes.byteLength)
    if (range === 'none') {
      context.status = 416
      context.set('content-range', `bytes */${bytes.byteLength}`)
      return
    }
    const { first, last } = range === 'whole' ? { first: 0, last: bytes.byteLength - 1 } : range
    if (range !== 'whole') {
      context.status = 206
      context.set('content-range', `bytes ${first}-${last}/${bytes.byteLength}`)
    }
    context.body = Buffer.from(bytes.buffer, bytes.byteOffset + first, last + 1 - first)
  }
}
