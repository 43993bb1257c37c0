/** Where a person's browser reaches us. */
import type { Context } from 'koa'

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/

/** `publicUrl` when it is set; else the loopback name the request used. No other `Host` header is believed. */
export function originOf(
  context: Pick<Context, 'host'>,
  options: { publicUrl: string | null; port: number },
): string {
  if (options.publicUrl !== null) return new URL(options.publicUrl).origin
  return loopback.test(context.host) ? `http://${context.host}` : `http://localhost:${options.port}`
}
