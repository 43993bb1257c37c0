/** Images at the public door: sent as a form, shown as files. */
import { Router } from '@koa/router'
import type { Middleware } from 'koa'
import { imageRoutes as routes } from '#domain/api/images.ts'
import type { GatewayServices } from '../services.ts'
import { checkImage } from './reencode.ts'
import { places } from './uploadLimits.ts'
import { showImage } from './show.ts'
import { receiveImage } from './upload.ts'

export function imageRoutes(services: GatewayServices): Middleware {
  const router = new Router({ prefix: '/api', sensitive: true })
  router.post(routes.uploadImage.path, receiveImage({ services, room: places(), checkImage }))
  router.get(routes.showImage.path, showImage(services))
  const dispatch = router.routes()
  return (context, next) => dispatch(context as Parameters<typeof dispatch>[0], next)
}
