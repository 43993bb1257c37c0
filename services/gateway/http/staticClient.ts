/**
 * Serves the files of the built client, and the verifier of audit bundles. All files are read once at the start, so that neither another build nor an
 * unreadable file disturbs a running server. Of a compressed file, only the compressed forms are kept, which are much smaller. An address without a
 * file ending gets the client's page.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import type { Middleware } from 'koa'

const yearSeconds = 31_536_000
/** The compressed forms that the build writes beside files that become smaller, the smallest form first, with the endings of their names. */
const packings = [
  { name: 'br', ending: '.br', unpack: promisify(brotliDecompress) },
  { name: 'gzip', ending: '.gz', unpack: promisify(gunzip) },
] as const

/** One form of a file. */
interface Body {
  readonly packing: 'br' | 'gzip' | 'identity'
  readonly bytes: Buffer
}

interface Served {
  readonly etag: string
  /** The smallest form comes first. A compressed file has no form `identity`. */
  readonly bodies: readonly Body[]
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
    const accepted = context.acceptsEncodings([...file.bodies.map(({ packing }) => packing), 'identity'])
    const body = file.bodies.find(({ packing }) => packing === accepted)
    context.vary('accept-encoding')
    if (body && body.packing !== 'identity') context.set('content-encoding', body.packing)
    // Names of assets contain a hash of their content, so they can be cached for a year. Browsers revalidate all other files at each use.
    const kept = path.startsWith('/assets/') ? `public, max-age=${yearSeconds}, immutable` : 'no-cache'
    context.set('cache-control', kept)
    context.etag = file.etag
    context.type = file === page ? '.html' : extname(path)
    context.status = 200
    if (context.fresh) context.status = 304
    else context.body = body?.bytes ?? (await unpacked(file.bodies))
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

/** The uncompressed content of a file. Hardly any client requests this form, so it is decompressed each time. */
async function unpacked([smallest]: readonly Body[]): Promise<Buffer> {
  if (!smallest) throw new Error('A file of the client has no content.')
  const packing = packings.find(({ name }) => name === smallest.packing)
  return packing ? packing.unpack(smallest.bytes) : smallest.bytes
}

/** The files of a folder by address. Files and folders whose name begins with a dot are left out, because they belong to the build itself. */
function filesIn(folder: string): ReadonlyMap<string, Served> {
  const files = new Map<string, string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const address = `/${relative(folder, file).split(sep).join('/')}`
    if (entry.isFile() && !address.includes('/.')) files.set(address, file)
  }
  const isPacked = (address: string): boolean =>
    packings.some(({ ending }) => address.endsWith(ending) && files.has(address.slice(0, -ending.length)))
  const served = new Map<string, Served>()
  for (const [address, file] of files) {
    if (isPacked(address)) continue
    const packed = packings.flatMap(({ name, ending }): Body[] => {
      const path = files.get(`${address}${ending}`)
      return path === undefined ? [] : [{ packing: name, bytes: readFileSync(path) }]
    })
    const bodies: readonly Body[] =
      packed.length > 0 ? packed : [{ packing: 'identity', bytes: readFileSync(file) }]
    const hash = createHash('sha256')
    for (const { bytes } of bodies.slice(0, 1)) hash.update(bytes)
    served.set(address, { etag: `W/"${hash.digest('base64url').slice(0, 27)}"`, bodies })
  }
  return served
}
