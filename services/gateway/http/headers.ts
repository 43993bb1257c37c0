/** Security headers of responses, and forwarded headers of trusted proxies. */
import type { Context, Middleware } from 'koa'

const contentPolicy = (pictureOrigins: readonly string[], formTarget: string | null) =>
  [
    "default-src 'self'",
    "script-src 'self'",
    // The client's dialogs add a style element that stops the page from scrolling.
    "style-src 'self' 'unsafe-inline'",
    ['img-src', "'self'", 'data:', 'blob:', ...pictureOrigins].join(' '),
    "connect-src 'self'",
    "font-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    `form-action 'self'${formTarget === null ? '' : ` ${formTarget}`}`,
    "frame-ancestors 'none'",
  ].join('; ')

const fixedHeaders = Object.entries({
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // After a sign-in, the address of a page contains a token once. Nothing that the page loads may learn that address.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
})

/**
 * Sets the security headers of every response. `pictureOrigins` are the origins of people's pictures; `formTarget` returns the one other origin to
 * which a page may post a form, if any.
 */
export const securityHeaders = (
  pictureOrigins: readonly string[],
  formTarget: (context: Context) => string | null,
): Middleware => {
  const usualPolicy = contentPolicy(pictureOrigins, null)
  return (context, next) => {
    const target = formTarget(context)
    const policy = target === null ? usualPolicy : contentPolicy(pictureOrigins, target)
    context.res.setHeader('content-security-policy', policy)
    for (const [name, value] of fixedHeaders) context.res.setHeader(name, value)
    return next()
  }
}

/**
 * Keeps one value of each forwarded header: the value that the outermost of our `proxies` appended; without proxies, none. A client can forge the
 * values before it. Never keeps a forwarded host.
 */
export function trustProxies(proxies: number): Middleware {
  return (context, next) => {
    const { headers } = context.req
    // Nothing may take the host from this header: the host comes from `Host` or from the public address.
    delete headers['x-forwarded-host']
    for (const name of ['x-forwarded-for', 'x-forwarded-proto']) {
      const value = headers[name]
      delete headers[name]
      const entries = typeof value === 'string' ? value.split(',').map((entry) => entry.trim()) : []
      const entry = proxies === 0 ? undefined : entries.slice(-proxies)[0]
      if (entry !== undefined && entry !== '') headers[name] = entry
    }
    return next()
  }
}
