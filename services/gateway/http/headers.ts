/** Headers that protect every answer. */
import type { Middleware } from 'koa'

const contentPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  // Overlays lock the page's scroll with a style element of their own.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob: https: http://localhost:* http://127.0.0.1:*",
  "connect-src 'self' ws: wss:",
  "font-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

export const protectiveHeaders: Middleware = async (context, next) => {
  context.set({
    'content-security-policy': contentPolicy,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    // The token of a sign-in is in an address once: no page it loads may learn that address.
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  })
  await next()
}
