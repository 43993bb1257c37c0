/** What the proxies in front say of a request. Each adds to the right of what was sent to it, so only the last entries are theirs. */
import type { Middleware } from 'koa'

/** Keeps of the forwarded headers what the outermost of our `proxies` wrote; without proxies nothing, and never a name of ours. */
export function believeProxies(proxies: number): Middleware {
  return (context, next) => {
    const { headers } = context.req
    // The name we are reached by is `Host`, or the public address.
    delete headers['x-forwarded-host']
    for (const name of ['x-forwarded-for', 'x-forwarded-proto']) {
      const said = headers[name]
      delete headers[name]
      const entries = typeof said === 'string' ? said.split(',').map((entry) => entry.trim()) : []
      const entry = proxies === 0 ? undefined : entries.slice(-proxies)[0]
      if (entry !== undefined && entry !== '') headers[name] = entry
    }
    return next()
  }
}
