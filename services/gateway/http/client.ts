/** The built client: precompressed files with their length, and the page itself for every address that is no file. */
import type { Middleware } from 'koa'
import sirv from 'sirv'

const yearSeconds = 31_536_000

export function client(folder: string): Middleware {
  const serve = sirv(folder, {
    brotli: true,
    gzip: true,
    etag: true,
    single: true,
    setHeaders: (response, path) => {
      // Names of assets carry the hash of what is in them; the page itself is asked for each time.
      const kept = path.startsWith('/assets/') ? `public, max-age=${yearSeconds}, immutable` : 'no-cache'
      response.setHeader('cache-control', kept)
    },
  })
  return async (context, next) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') return next()
    let found = true
    serve(context.req, context.res, () => {
      found = false
    })
    if (!found) return next()
    context.respond = false
  }
}
