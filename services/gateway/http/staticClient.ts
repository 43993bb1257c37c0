/**
 * The built client, read once at the start, so that neither another build nor a file that cannot be opened disturbs a server that runs. The page
 * itself is the answer for every address that is no file.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import type { Middleware } from 'koa'

const yearSeconds = 31_536_000
/** The compressions of a file, the smallest first, with the endings of the files that the build has compressed. */
const packings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

interface Served {
  readonly etag: string
  readonly bodies: ReadonlyMap<string, Buffer>
}

/** @throws when the folder cannot be read: there is no page to show then. */
export function client(folder: string): Middleware {
  const files = filesIn(folder)
  const page = files.get('/index.html')
  return async (context, next) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') return next()
    const { path } = context
    const file = files.get(path) ?? (extname(path) === '' ? page : undefined)
    if (file === undefined) return next()
    const packing = context.acceptsEncodings([...file.bodies.keys()])
    const body = file.bodies.get(packing === false ? 'identity' : packing)
    if (body === undefined) return next()
    context.vary('accept-encoding')
    if (packing !== false && packing !== 'identity') context.set('content-encoding', packing)
    // The names of assets contain the hash of their content; the page itself is requested each time.
    const kept = path.startsWith('/assets/') ? `public, max-age=${yearSeconds}, immutable` : 'no-cache'
    context.set('cache-control', kept)
    context.etag = file.etag
    context.type = file === page ? '.html' : extname(path)
    context.status = 200
    if (context.fresh) context.status = 304
    else context.body = body
  }
}

/**
 * Serves the verifier of audit bundles as a file that anybody may download and run. It is created by the build, so it is missing when the product
 * runs from its sources.
 */
export function verifierDownload(path: string): Middleware {
  const program = existsSync(path) ? readFileSync(path) : undefined
  return (context, next) => {
    const isAsked = context.path === verifierAddress && ['GET', 'HEAD'].includes(context.method)
    if (!isAsked || program === undefined) return next()
    context.set('content-disposition', 'attachment')
    context.set('cache-control', 'no-cache')
    context.type = 'text/javascript'
    context.body = program
    return undefined
  }
}
const verifierAddress = '/flightdeck-verify.mjs'

/** Files by address. Those that begin with a dot are the build's own. */
function filesIn(folder: string): ReadonlyMap<string, Served> {
  const contents = new Map<string, Buffer>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const address = `/${relative(folder, file).split(sep).join('/')}`
    if (entry.isFile() && !address.includes('/.')) contents.set(address, readFileSync(file))
  }
  const served = new Map<string, Served>()
  for (const [address, content] of contents) {
    if (
      packings.some(
        ([, ending]) => address.endsWith(ending) && contents.has(address.slice(0, -ending.length)),
      )
    )
      continue
    const bodies = new Map<string, Buffer>()
    for (const [packing, ending] of packings) {
      const packed = contents.get(`${address}${ending}`)
      if (packed !== undefined) bodies.set(packing, packed)
    }
    bodies.set('identity', content)
    served.set(address, {
      etag: `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`,
      bodies,
    })
  }
  return served
}
