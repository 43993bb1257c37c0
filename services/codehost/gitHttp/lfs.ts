/** Git LFS: the batch API with the transfer `basic`. Objects are stored in the folder `lfs` of the repository. */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Context } from 'koa'
import { z } from 'zod'
import { originOf } from '../http/origin.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { Host } from '../host.ts'
import { authorized } from './backend.ts'

export const lfsPath =
  /^\/([^/]+)\/([^/]+?)\.git\/info\/lfs\/(?:objects\/(?:(batch)|([0-9a-f]{64}))|(verify))$/

const Oid = z.object({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: z.int().nonnegative() })
const Batch = z.object({ operation: z.enum(['upload', 'download']), objects: z.array(Oid).max(1_000) })

const longestBody = 1024 * 1024
const largestObject = 512 * 1024 * 1024

/** Makes a function that answers requests of Git LFS. For any other request, it returns `undefined`. */
export function createLfs(host: Host): (ctx: Context) => Promise<void> | undefined {
  return (ctx) => {
    const [, owner, name, batch, oid, verify] = lfsPath.exec(ctx.path) ?? []
    if (owner === undefined || name === undefined) return undefined
    return answer(ctx, host, {
      owner,
      name,
      isBatch: batch !== undefined,
      oid,
      isVerify: verify !== undefined,
    })
  }
}

interface Asked {
  readonly owner: string
  readonly name: string
  readonly isBatch: boolean
  readonly oid: string | undefined
  readonly isVerify: boolean
}

async function answer(
  ctx: Context,
  host: Host,
  { owner, name, isBatch, oid, isVerify }: Asked,
): Promise<void> {
  const service = (writes: boolean) => (writes ? 'git-receive-pack' : 'git-upload-pack')
  const writes = !isBatch && ctx.method !== 'GET'
  const { repository } = authorized(ctx, host, { owner, name, service: service(writes) })
  const folder = join(host.repositories.root, host.repositories.folder(repository), 'lfs')
  if (oid !== undefined) return ctx.method === 'PUT' ? take(ctx, folder, oid) : give(ctx, folder, oid)
  ctx.type = 'application/vnd.git-lfs+json'
  if (isVerify) {
    const { oid: verified, size } = await bodyOf(ctx, Oid)
    if ((await sizeOf(folder, verified)) !== size) throw notFound()
    ctx.body = '{}'
    return
  }
  const { operation, objects } = await bodyOf(ctx, Batch)
  if (operation === 'upload') authorized(ctx, host, { owner, name, service: service(true) })
  const below = `${originOf(ctx, host.url)}/${owner}/${name}.git/info/lfs`
  const told = objects.map(async (object) => {
    const isThere = (await sizeOf(folder, object.oid)) === object.size
    const href = `${below}/objects/${object.oid}`
    if (operation === 'download')
      return isThere
        ? { ...object, actions: { download: { href } } }
        : { ...object, error: { code: 404, message: 'Object does not exist' } }
    return isThere
      ? object
      : { ...object, actions: { upload: { href }, verify: { href: `${below}/verify` } } }
  })
  ctx.body = JSON.stringify({ transfer: 'basic', objects: await Promise.all(told) })
}

async function sizeOf(folder: string, oid: string): Promise<number | undefined> {
  return (await stat(join(folder, oid)).catch(() => undefined))?.size
}

async function give(ctx: Context, folder: string, oid: string): Promise<void> {
  if ((await sizeOf(folder, oid)) === undefined) throw notFound()
  ctx.type = 'application/octet-stream'
  ctx.body = createReadStream(join(folder, oid))
}

/** Stores an uploaded object. Throws Refusal 422 when its hash is not `oid`, and 413 when it is too large. */
async function take(ctx: Context, folder: string, oid: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const half = join(folder, `.${randomUUID()}`)
  const digest = createHash('sha256')
  try {
    await pipeline(
      ctx.req,
      async function* (chunks: AsyncIterable<Buffer>) {
        let bytes = 0
        for await (const chunk of chunks) {
          bytes += chunk.length
          if (bytes > largestObject) throw new Refusal(413, 'The object is too large.')
          digest.update(chunk)
          yield chunk
        }
      },
      createWriteStream(half),
    )
    if (digest.digest('hex') !== oid) throw new Refusal(422, 'The content is not what its name says')
    await rename(half, join(folder, oid))
    ctx.status = 200
    ctx.body = ''
  } finally {
    await rm(half, { force: true })
  }
}

async function bodyOf<Body>(ctx: Context, schema: z.ZodType<Body>): Promise<Body> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of ctx.req) {
    const read = Buffer.from(chunk)
    bytes += read.length
    if (bytes > longestBody) throw new Refusal(413, 'The request is too large.')
    chunks.push(read)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  const body = schema.safeParse(await new Response(text).json().catch(() => undefined))
  if (!body.success) throw new Refusal(422, 'The request is not one of Git LFS')
  return body.data
}
