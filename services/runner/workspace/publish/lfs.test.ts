import { createServer, type IncomingMessage } from 'node:http'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeScene, testGit, writeIn, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { gitText } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'
import { uploadObjects } from './lfs.ts'

interface Asked {
  readonly line: string
  readonly authorization: string | undefined
  readonly body: string
}
type Reply = { readonly status: number; readonly body?: unknown } | 'cut' | 'none'

const content = 'content'
const oid = createHash('sha256').update(content).digest('hex')
let scene: Scene
let workspace: Workspace
let blob = ''
let asked: Asked[] = []
let replies: Record<string, Reply[]> = {}
const servers: { base: string; close: () => void }[] = []

/** Answers each method and path in turn as `replies` says; the last reply stays. */
async function start(): Promise<string> {
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const line = `${request.method} ${request.url}`
      asked.push({ line, authorization: request.headers.authorization, body })
      const [reply = { status: 404 }, ...rest] = replies[line] ?? []
      if (rest.length > 0) replies[line] = rest
      if (reply === 'cut') return request.socket.destroy()
      if (reply === 'none') return undefined
      return response.writeHead(reply.status).end(JSON.stringify(reply.body ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const base = `http://127.0.0.1:${address.port}`
  servers.push({ base, close: () => server.close().closeAllConnections() })
  return base
}

async function read(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

let base = ''
beforeEach(async () => {
  scene = await makeScene({ 'a.txt': 'a\n' })
  workspace = await scene.prepare()
  await writeIn(workspace.dir, 'x.bin', content)
  const gitDir = workspace.privateGitDir
  blob = await gitText(testGit, { gitDir, args: ['hash-object', '-w', '--stdin'], input: content })
  asked = []
  base = await start()
})
afterEach(async () => {
  for (const { close } of servers.splice(0)) close()
  await scene.remove()
})

const batchLine = 'POST /ada/engine.git/info/lfs/objects/batch'
const telling = (href: string, more: object = {}): Reply => ({
  status: 200,
  body: {
    objects: [{ oid, size: 7, actions: { upload: { href }, verify: { href: `${base}/verify` }, ...more } }],
  },
})
const upload = (more: object = {}) =>
  uploadObjects({
    git: testGit,
    workspace,
    objects: [{ path: 'x.bin', oid, size: content.length, blob }],
    branch: 'work',
    url: `${base}/ada/engine.git`,
    authorization: 'Basic own',
    ...more,
  })

test('repository F1: an object is uploaded and verified with the access of git, and what the host stumbles over is tried once more', async () => {
  replies = {
    [batchLine]: [{ status: 503 }, telling(`${base}/put`)],
    'PUT /put': ['cut', { status: 200 }],
    'POST /verify': [{ status: 200 }],
  }
  expect(await upload()).toBeNull()
  expect(asked.map(({ line }) => line)).toEqual([
    batchLine,
    batchLine,
    'PUT /put',
    'PUT /put',
    'POST /verify',
  ])
  expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(new Set(['Basic own']))
  expect(JSON.parse(asked[0]?.body ?? '')).toMatchObject({
    operation: 'upload',
    transfers: ['basic'],
    ref: { name: 'refs/heads/work' },
    objects: [{ oid, size: 7 }],
  })
  expect(asked[3]?.body).toBe(content)
  expect(JSON.parse(asked[4]?.body ?? '')).toEqual({ oid, size: 7 })
})

test('repository F1: all uploads of a publication together have an end', async () => {
  replies = { [batchLine]: [telling(`${base}/put`)], 'PUT /put': ['none'] }
  expect(await upload({ totalTimeoutMs: 200 })).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('The code host does not answer.'),
  })
})

test('repository F1: what the host has is not uploaded again', async () => {
  replies = { [batchLine]: [{ status: 200, body: { objects: [{ oid, size: 7 }] } }] }
  expect(await upload()).toBeNull()
  expect(asked).toHaveLength(1)
})

test('repository F1: the access of git goes to no other server, and is renewed once', async () => {
  const other = await start()
  replies = {
    [batchLine]: [{ status: 401 }, telling(`${other}/put`)],
    'PUT /put': [{ status: 200 }],
    'POST /verify': [{ status: 200 }],
  }
  expect(await upload({ renewed: async () => 'Basic fresh' })).toBeNull()
  expect(asked.map(({ authorization }) => authorization)).toEqual([
    'Basic own',
    'Basic fresh',
    undefined,
    'Basic fresh',
  ])
})

test.each([
  [{ status: 404 }, 'not_committable', /has no Git LFS for this repository/],
  [{ status: 501 }, 'not_committable', /has no Git LFS for this repository/],
  [{ status: 403, body: { message: 'over quota' } }, 'not_committable', /refused it: over quota\./],
  [{ status: 200, body: { objects: [] } }, 'not_committable', /did not say where/],
  [{ status: 200, body: 'x' }, 'not_committable', /does not know/],
  [{ status: 429 }, 'limited', /asks us to wait/],
  [{ status: 500 }, 'unreachable', /does not answer/],
  ['cut', 'unreachable', /does not answer/],
  [
    { status: 200, body: { objects: [{ oid, size: 7, error: { code: 422, message: 'bad size' } }] } },
    'not_committable',
    /does not take it: bad size\./,
  ],
  [
    {
      status: 200,
      body: { objects: [{ oid, size: 7, actions: { upload: { href: 'file:///etc/passwd' } } }] },
    },
    'not_committable',
    /not safe/,
  ],
] as const)('repository F1: of an answer of the host %j a sentence tells (%s)', async (reply, kind, said) => {
  replies = { [batchLine]: [reply] }
  const fault = await upload()
  expect(fault?.kind).toBe(kind)
  expect(fault?.message).toMatch(
    /^The repository keeps x\.bin in Git LFS, where .*\. Nothing was committed\. /,
  )
  expect(fault?.message).toMatch(said)
})

test('repository F1: more than may be uploaded at once is refused before anything is asked', async () => {
  const large = { path: 'x.bin', oid, size: 1024 ** 3 + 1, blob }
  expect(await upload({ objects: [large] })).toMatchObject({ kind: 'not_committable' })
  expect(asked).toEqual([])
})
