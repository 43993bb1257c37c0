/**
 * Serves the files of the built client, and the verifier of audit bundles. All files are read once at the start, so that neither another build nor an
 * unreadable file disturbs a running server. An address without a file ending gets the client's page.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import type { Middleware } from 'koa'

const yearSeconds = 31_536_000
/** The compressed forms in which the build writes each file, the smallest first, with the endings of their names. */
const packings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

interface Served {
  readonly etag: string
  readonly bodies: ReadonlyMap<string, Buffer>
}

/** Serves the files in a folder. Throws when the folder cannot be read. */
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
    // Names of assets contain a hash of their content, so they can be cached for ever; the page itself is always requested.
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
 * Serves the verifier of audit bundles as a file that anybody may download and run. Only a build has this file; when run from the sources, the answer
 * is 404.
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

/** The files of a folder by address. Files and folders whose name begins with a dot are left out, because they belong to the build itself. */
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
