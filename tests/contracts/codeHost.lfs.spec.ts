/** Git LFS at the local code host: who may store and read objects, and which files count as pointers to one. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { signIn, useLocalHosts } from './codeHost.fixture.ts'

const hosts = useLocalHosts()
const content = 'a large file'
const oid = createHash('sha256').update(content).digest('hex')
const size = content.length

test('repository F1: an object is kept as it is named, told of in a batch, and hidden with its repository', async () => {
  const { codeHost } = await hosts.start()
  const ada = (await signIn(codeHost, 'ada')).accessToken
  const grace = (await signIn(codeHost, 'grace')).accessToken
  await codeHost.createRepository(ada, { name: 'closed', description: '', isPrivate: true })
  const closed = { owner: 'ada', name: 'closed' }
  const access = await codeHost.gitAccess(ada, closed)
  const ask = async (
    method: string,
    path: string,
    body: string | undefined,
    authorization = access.authorization,
  ) => {
    const answer = await fetch(`${access.url}/info/lfs/${path}`, {
      method,
      headers: { authorization },
      ...(body !== undefined && { body }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const batch = async (operation: string, authorization?: string) => {
    const body = JSON.stringify({ operation, objects: [{ oid, size }] })
    return ask('POST', 'objects/batch', body, authorization)
  }
  const asGrace = (await codeHost.gitAccess(grace, closed)).authorization

  expect((await batch('upload', asGrace)).status).toBe(404)
  expect((await batch('delete')).status).toBe(422)
  expect((await batch('download')).text).toContain('Object does not exist')
  const offered = await batch('upload')
  expect(JSON.parse(offered.text)).toMatchObject({
    transfer: 'basic',
    objects: [{ oid, size, actions: { upload: { href: `${access.url}/info/lfs/objects/${oid}` } } }],
  })
  expect((await ask('PUT', `objects/${oid}`, 'something else')).status).toBe(422)
  expect((await ask('POST', 'verify', JSON.stringify({ oid, size }))).status).toBe(404)
  expect((await ask('PUT', `objects/${oid}`, content)).status).toBe(200)
  expect((await ask('POST', 'verify', JSON.stringify({ oid, size: size + 1 }))).status).toBe(404)
  expect((await ask('POST', 'verify', JSON.stringify({ oid, size }))).status).toBe(200)
  expect(JSON.parse((await batch('upload')).text).objects).toEqual([{ oid, size }])
  expect(await ask('GET', `objects/${oid}`, undefined)).toEqual({ status: 200, text: content })
  expect((await ask('GET', `objects/${oid}`, undefined, asGrace)).status).toBe(404)
})
