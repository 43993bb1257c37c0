/** Paths of the API: accepted in one spelling only. */
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'

/** Refuses paths that decode or normalize to one below `/api` but are not written so: the guards of `/api` would not recognise them. */
export const refuseDisguisedApiPaths: Middleware = (context, next) => {
  const { path } = context
  if (!isBelowApi(path) && isBelowApi(normalized(path)))
    throw new Fault('not_found', 'There is no such call.')
  return next()
}

/** Refuses addresses whose percent-encoding is broken or not UTF-8, because decoders would silently insert other characters. */
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

/** Whether a path, as written, is of the API. */
export function isBelowApi(path: string): boolean {
  return path === '/api' || path.startsWith('/api/')
}

/** The path as the most lenient reader understands it: decoded, in lower case, with dots and double slashes resolved. */
function normalized(path: string): string {
  let decoded = path
  // Twice, as a proxy in between may decode once.
  for (const _ of [1, 2])
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  const parts: string[] = []
  for (const part of decoded.toLowerCase().split(/[/\\]/)) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part.split(';', 1)[0] ?? '')
  }
  return `/${parts.join('/')}`
}
