import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { client } from './staticClient.ts'

const script = 'console.log("flightdeck")\n'
const folder = await mkdtemp(join(tmpdir(), 'flightdeck-client-'))
const server = createServer()
let base = ''

beforeAll(async () => {
  await mkdir(join(folder, 'assets'))
  await mkdir(join(folder, '.vite'))
  await writeFile(join(folder, 'index.html'), '<!doctype html>\n')
  await writeFile(join(folder, 'assets/index-1.js'), script)
  await writeFile(join(folder, 'assets/index-1.js.gz'), gzipSync(script))
  await writeFile(join(folder, 'assets/index-1.js.br'), brotliCompressSync(script))
  await writeFile(join(folder, '.vite/manifest.json'), '{}')
  const app = new Koa()
  app.use(client(folder))
  server.on('request', app.callback())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  base = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true, force: true })
})
const get = (path: string, headers: Record<string, string> = {}) => fetch(base + path, { headers })

describe('the built client', () => {
  test.each([
    ['gzip', 'gzip'],
    ['br, gzip', 'br'],
    ['identity', null],
  ])('is packed as the browser takes it: %s', async (accepted, packed) => {
    const answer = await get('/assets/index-1.js', { 'accept-encoding': accepted })
    expect(answer.headers.get('content-encoding')).toBe(packed)
    expect(answer.headers.get('vary')?.toLowerCase()).toContain('accept-encoding')
    expect(answer.headers.get('content-type')).toContain('javascript')
    expect(await answer.text()).toBe(script)
  })

  test('is kept for as long as its name, the page only until it is asked for again', async () => {
    expect((await get('/assets/index-1.js')).headers.get('cache-control')).toContain('immutable')
    const page = await get('/')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const again = await get('/', {
      'if-none-match': page.headers.get('etag') ?? '',
      // Browsers send this header; Node's `fetch` would send `no-cache` instead.
      'cache-control': 'max-age=0',
    })
    expect(again.status).toBe(304)
  })

  test('is the page at every address that is no file', async () => {
    for (const path of ['/', '/tasks/1', '/index.html']) {
      const answer = await get(path)
      expect(answer.headers.get('content-type')).toContain('text/html')
      expect(await answer.text()).toBe('<!doctype html>\n')
    }
    for (const path of ['/assets/index-2.js', '/.vite/manifest.json', '/..%2f..%2fetc/passwd.txt'])
      expect((await get(path)).status).toBe(404)
  })

  test('is served as it was at the start, also when its files are gone', async () => {
    await rm(join(folder, 'assets'), { recursive: true })
    expect(await (await get('/assets/index-1.js')).text()).toBe(script)
  })
})
