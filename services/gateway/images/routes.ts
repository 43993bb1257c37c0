/** The routes of images: uploaded as a form, served as files. */
import { Router } from '@koa/router'
import type { Middleware } from 'koa'
import { imageRoutes as routes } from '#domain/api/images.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Bodies } from '#platform/http/bodies.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { grantName, type ImageAddresses } from '#platform/images/addresses.ts'
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
 * Answers `GET /api/images/:imageId` to anybody with a valid link, since an `<img>` sends no token. 404 for an invalid link and for deleted bytes,
 * without saying which.
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
    context.set({
      'content-type': opened.image.mediaType,
      'content-disposition': dispositionOf(opened.image.name),
      // If the image is opened by itself, these headers prevent a browser from treating it as anything but a picture.
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': `private, max-age=${opened.secondsLeft}`,
    })
    context.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
}
