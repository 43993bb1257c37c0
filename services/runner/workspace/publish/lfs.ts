/**
 * Git LFS outside of the sandbox: replaces contents by pointers, and uploads the contents by the batch API
 * (https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md). No filter of the repository runs.
 */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { gitOrThrow, gitText, type Git } from '../git/git.ts'
import { withScratchIndex } from '../changes/indexDifferences.ts'
import { parseJson, type Workspace } from '../workspace.ts'
import { namesOf, type ChangedContent } from './unfilteredPaths.ts'

export interface LfsObject {
  readonly path: string
  /** SHA-256 of the content, in hex. */
  readonly oid: string
  readonly size: number
  /** The git object name of the content. */
  readonly blob: string
}

/**
 * Uploads the given contents, and returns the tree with pointers in their place. Nothing is uploaded if that tree is `from`, whose contents the host
 * already has. Throws `GitFault`.
 */
export async function keptInLfs(
  request: Omit<UploadRequest, 'objects'>,
  {
    tree,
    from,
    contents,
  }: { readonly tree: string; readonly from: string; readonly contents: readonly ChangedContent[] },
): Promise<string | UploadFault> {
  const files = contents.map(({ path }) => ({ path: path.toString('utf8') }))
  if (files.length > maxObjects) return refusalOf(files, tooMuch)
  const pointered = await withPointers(request, tree, contents)
  const fault =
    pointered.tree === from ? null : await uploadObjects({ ...request, objects: pointered.objects })
  return fault ?? pointered.tree
}

async function withPointers(
  { git, workspace }: { readonly git: Git; readonly workspace: Workspace },
  tree: string,
  contents: readonly ChangedContent[],
): Promise<{ readonly tree: string; readonly objects: readonly LfsObject[] }> {
  const gitDir = workspace.privateGitDir
  const objects: LfsObject[] = []
  const entries: Buffer[] = []
  for (const { path, mode, blob } of contents) {
    const content = await contentOf(git, gitDir, blob)
    const name = path.toString('utf8')
    const object = {
      path: name,
      oid: createHash('sha256').update(content).digest('hex'),
      size: content.length,
      blob,
    }
    const input = `version https://git-lfs.github.com/spec/v1\noid sha256:${object.oid}\nsize ${object.size}\n`
    const pointer = await gitText(git, { gitDir, args: ['hash-object', '-w', '--stdin'], input })
    objects.push(object)
    entries.push(Buffer.from(`${mode} ${pointer}\t`), path, Buffer.of(0))
  }
  return withScratchIndex(workspace, async ({ file }) => {
    const on = { gitDir, env: { GIT_INDEX_FILE: file } }
    await gitOrThrow(git, { ...on, args: ['read-tree', tree] })
    const input = Buffer.concat(entries)
    await gitOrThrow(git, { ...on, args: ['update-index', '-z', '--index-info'], input })
    return { tree: await gitText(git, { ...on, args: ['write-tree'] }), objects }
  })
}

export interface UploadRequest {
  readonly git: Git
  readonly workspace: Workspace
  readonly objects: readonly LfsObject[]
  readonly branch: string
  /** The address of the repository, as git uses it. */
  readonly url: string
  readonly authorization?: string | undefined
  /** Called if the host rejects `authorization`; returns a new one, or `undefined`. */
  readonly renewed?: () => Promise<string | undefined>
  readonly signal?: AbortSignal | undefined
  /** The time limit for the whole upload, in ms; half an hour by default. */
  readonly totalTimeoutMs?: number
}

/** Why an upload failed. Each sentence can be shown to the person. */
export type UploadFault = {
  readonly kind: 'not_committable' | 'unreachable' | 'limited'
  readonly message: string
}

/** Uploads the contents that the host does not have; `null` when it then has all of them. Throws `GitFault`. */
export async function uploadObjects(request: UploadRequest): Promise<UploadFault | null> {
  const { objects, signal: stopped, totalTimeoutMs = uploadTimeoutMs } = request
  const late = AbortSignal.timeout(totalTimeoutMs)
  const bounded = { ...request, signal: stopped ? AbortSignal.any([stopped, late]) : late }
  const bytes = objects.reduce((sum, { size }) => sum + size, 0)
  const refused = (why: string, kind?: UploadFault['kind']) => refusalOf(objects, why, kind)
  if (bytes > maxBytes) return refused(tooMuch)
  try {
    const { batch, authorization } = await askBatch(bounded)
    for (const object of objects) {
      const target = batch.objects.find(({ oid }) => oid === object.oid)
      if (target?.error) return refused(`The code host does not take it: ${target.error.message}.`)
      if (target === undefined) return refused('The code host did not say where it goes.')
      await upload({ ...bounded, authorization }, object, target)
    }
    return null
  } catch (fault) {
    if (fault instanceof LfsRefusal) return refused(fault.message, fault.kind)
    if (fault instanceof TypeError || (fault instanceof Error && isOver(fault)))
      return refused(stopped?.aborted ? 'It was stopped.' : unanswered, 'unreachable')
    throw fault
  }
}

function refusalOf(
  files: readonly Pick<LfsObject, 'path'>[],
  why: string,
  kind: UploadFault['kind'] = 'not_committable',
): UploadFault {
  const message = `The repository keeps ${namesOf(files)} in Git LFS, where the content could not be uploaded. Nothing was committed. ${why}`
  return { kind, message }
}

const maxObjects = 1_000
/** The limit for all objects of one publication; a single object is limited when it is staged. */
const maxBytes = 1024 ** 3
const batchTimeoutMs = 30_000
const objectTimeoutMs = 300_000
const uploadTimeoutMs = 1_800_000
const pauseBeforeRetryMs = 200
const longestAnswer = 4 * 1024 * 1024

const unanswered = 'The code host does not answer. Ask again later.'
const noLfs =
  "The code host has no Git LFS for this repository, so the content would be published unfiltered. Take these changes back, or allow lfs in the project's settings, and ask again."
const tooMuch = `At once, at most ${maxObjects} files and 1 GB are uploaded.`

class LfsRefusal extends Error {
  readonly kind: UploadFault['kind']
  constructor(kind: UploadFault['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** Whether `fetch` threw because a time limit is over or the call was aborted. */
const isOver = ({ name }: Error): boolean => name === 'TimeoutError' || name === 'AbortError'

const Action = z.object({ href: z.url(), header: z.record(z.string(), z.string()).optional() })
const Target = z.object({
  oid: z.string(),
  error: z.object({ message: z.string() }).optional(),
  actions: z.object({ upload: Action.optional(), verify: Action.optional() }).optional(),
})
const Batch = z.object({ transfer: z.literal('basic').optional(), objects: z.array(Target) })
const Refusal = z.object({ message: z.string() })

async function askBatch(
  request: UploadRequest,
): Promise<{ readonly batch: z.infer<typeof Batch>; readonly authorization: string | undefined }> {
  const { objects, branch, url, renewed } = request
  const body = JSON.stringify({
    operation: 'upload',
    transfers: ['basic'],
    hash_algo: 'sha256',
    ref: { name: `refs/heads/${branch}` },
    objects: objects.map(({ oid, size }) => ({ oid, size })),
  })
  const ask = (authorization: string | undefined) => {
    const headers = { ...json, ...(authorization !== undefined && { authorization }) }
    const address = `${url.replace(/(\.git)?\/?$/, '.git')}/info/lfs/objects/batch`
    return send(request, address, { method: 'POST', headers, body, timeoutMs: batchTimeoutMs })
  }
  let { authorization } = request
  let answer = await ask(authorization)
  if (answer.status === 401) {
    authorization = (await renewed?.()) ?? authorization
    answer = await ask(authorization)
  }
  if (answer.status === 404 || answer.status === 501) throw new LfsRefusal('not_committable', noLfs)
  const batch = Batch.safeParse(wellAnswered(answer))
  if (!batch.success)
    throw new LfsRefusal('not_committable', 'The code host answered in a way that Flightdeck does not know.')
  return { batch: batch.data, authorization }
}

const json = { accept: 'application/vnd.git-lfs+json', 'content-type': 'application/vnd.git-lfs+json' }

async function upload(
  request: UploadRequest,
  { oid, size, blob }: LfsObject,
  { actions }: z.infer<typeof Target>,
): Promise<void> {
  // The host already has the object.
  if (!actions?.upload) return
  const { git, workspace } = request
  const body = new Uint8Array(await contentOf(git, workspace.privateGitDir, blob))
  const put = { 'content-type': 'application/octet-stream', ...headersOf(request, actions.upload) }
  wellAnswered(
    await send(request, actions.upload.href, {
      method: 'PUT',
      headers: put,
      body,
      timeoutMs: objectTimeoutMs,
    }),
  )
  if (!actions.verify) return
  const headers = { ...json, ...headersOf(request, actions.verify) }
  const verification = {
    method: 'POST',
    headers,
    body: JSON.stringify({ oid, size }),
    timeoutMs: batchTimeoutMs,
  }
  wellAnswered(await send(request, actions.verify.href, verification))
}

/** The headers of an upload. The authorization of git is sent only if the host gives none for this upload, and only to the code host itself. */
function headersOf(
  { url, authorization }: UploadRequest,
  { href, header = {} }: z.infer<typeof Action>,
): Readonly<Record<string, string>> {
  const [own, there] = [new URL(url), new URL(href)]
  if (!/^https?:$/.test(there.protocol) || (own.protocol === 'https:' && there.protocol !== 'https:'))
    throw new LfsRefusal('not_committable', 'The code host wants it at an address that is not safe.')
  const isGiven = Object.keys(header).some((name) => name.toLowerCase() === 'authorization')
  return there.origin === own.origin && !isGiven && authorization !== undefined
    ? { ...header, authorization }
    : header
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Sends a request, and once more if the host failed or the connection broke, as git does. Throws what `fetch` throws. */
async function send(
  { signal }: UploadRequest,
  address: string,
  { timeoutMs, ...init }: Pick<RequestInit, 'method' | 'headers' | 'body'> & { readonly timeoutMs: number },
): Promise<Answer> {
  const once = async (): Promise<Answer> => {
    const late = AbortSignal.timeout(timeoutMs)
    const until = signal ? AbortSignal.any([signal, late]) : late
    const response = await fetch(address, { ...init, redirect: 'error', signal: until })
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
      if (text.length < longestAnswer) text += chunk
    return { status: response.status, body: parseJson(text) }
  }
  const first = await once().catch((fault: unknown) => {
    if (fault instanceof TypeError) return undefined
    throw fault
  })
  if (first && (first.status < 500 || first.status === 501)) return first
  await delay(pauseBeforeRetryMs, undefined, { signal })
  return once()
}

function wellAnswered({ status, body }: Answer): unknown {
  if (status >= 200 && status < 300) return body
  if (status === 429) throw new LfsRefusal('limited', 'The code host asks us to wait.')
  if (status >= 500) throw new LfsRefusal('unreachable', unanswered)
  const refusal = Refusal.safeParse(body)
  throw new LfsRefusal(
    'not_committable',
    `The code host refused it: ${refusal.success ? refusal.data.message : status}.`,
  )
}

async function contentOf(git: Git, gitDir: string, blob: string): Promise<Buffer> {
  const call = { gitDir, args: ['cat-file', 'blob', blob], maxOutputBytes: longestContent }
  return (await gitOrThrow(git, call)).stdout
}

/** The largest content that is read, in bytes: a little more than the largest file that can be staged. */
const longestContent = 101 * 1024 * 1024
