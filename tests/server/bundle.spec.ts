/** How much of the client a browser loads before a page is complete: JavaScript with the best compression with which it is sent. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { root } from '../load/project.ts'

const web = join(root, 'dist/web')
const Manifest = z.record(z.string(), z.object({ file: z.string(), imports: z.array(z.string()).optional() }))

const entry = 'index.html'
/** What every page with the top bar loads. */
const frame = [entry, 'src/app/frame/Layout.tsx', 'src/live/socket.ts']
const pages = [
  { page: 'sign-in', most: 127, chunks: [entry] },
  { page: 'the dashboard', most: 172, chunks: [...frame, 'src/features/dashboard/Dashboard.tsx'] },
  {
    page: 'a task with Markdown, diff and terminal',
    most: 295,
    chunks: [
      ...frame,
      'src/features/task/TaskDetail.tsx',
      'src/features/task/chat/markdown/Markdown.tsx',
      // Its colours come after it, where there is code to be coloured.
      'src/features/task/changes/CodeChanges.tsx',
    ],
  },
]

test.each(pages)('$page takes at most $most kB of JavaScript', async ({ most, chunks }) => {
  const manifest = Manifest.parse(JSON.parse(await readFile(join(web, '.vite/manifest.json'), 'utf8')))
  const files = new Set<string>()
  const add = (name: string) => {
    const chunk = manifest[name]
    if (chunk === undefined) throw new Error(`There is no chunk ${name} any more: name what took its place.`)
    if (files.has(chunk.file)) return
    files.add(chunk.file)
    chunk.imports?.forEach(add)
  }
  chunks.forEach(add)
  let bytes = 0
  for (const file of files) bytes += gzipSync(await readFile(join(web, file)), { level: 9 }).length
  expect(bytes / 1_000).toBeLessThanOrEqual(most)
})

test('no chunk holds the schema library but the verifier, which is loaded with a file to check', async () => {
  const assets = join(web, 'assets')
  const scripts = (await readdir(assets)).filter((name) => name.endsWith('.js'))
  expect(scripts.length).toBeGreaterThan(10)
  const withSchemas = []
  // Every schema has this property; a minifier leaves it as it is.
  for (const name of scripts)
    if ((await readFile(join(assets, name), 'utf8')).includes('_zod')) withSchemas.push(name)
  expect(withSchemas.map((name) => name.replace(/-[\w-]{8}\.js$/, ''))).toEqual(['verifierWorker'])
})
