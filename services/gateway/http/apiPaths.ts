/** Ensures that each path of the API has only one spelling. */
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'

/** Refuses paths that become a path below `/api` only after decoding or normalizing, since the guards of `/api` would not recognise them. */
export const refuseDisguisedApiPaths: Middleware = (context, next) => {
  const { path } = context
  if (!isBelowApi(path) && isBelowApi(normalized(path)))
    throw new Fault('not_found', 'There is no such call.')
  return next()
}

/** Refuses addresses with invalid percent-encoding or UTF-8, because decoders would silently replace it. */
export const refuseUndecodable: Middleware = (context, next) => {
  for (const [part, text] of [
    ['path', context.path],
    ['query', context.search],
  ] as const)
    if (!isDecodable(text))
      throw new Fault(
        'invalid_input',
        `The ${part} of the address is not valid: its percent-encoding is broken or not UTF-8.`,
      )
  return next()
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Whether a path, exactly as written, belongs to the API. */
export function isBelowApi(path: string): boolean {
  return path === '/api' || path.startsWith('/api/')
}

/** The path as the most lenient server would read it: decoded, in lower case, with dots and double slashes resolved. */
function normalized(path: string): string {
  let decoded = path
  // Decodes twice, since a proxy may decode once.
  for (const _ of [1, 2])
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  const parts: string[] = []
  for (const part of decoded.toLowerCase().split(/[/\\]/)) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part.split(';', 1)[0] ?? '')
  }
  return `/${parts.join('/')}`
}
