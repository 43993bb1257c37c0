/** Which files of the folder of artifacts may be kept, whatever an agent put there. */
import { execFileSync } from 'node:child_process'
import { link, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { artifactFolder } from '#domain/api/artifacts.ts'
import { artifactFiles } from './artifactFiles.ts'

let tree: string
let folder: string
beforeEach(async () => {
  tree = await mkdtemp(join(tmpdir(), 'flightdeck-artifacts-'))
  folder = join(tree, artifactFolder)
  await mkdir(folder, { recursive: true })
})
afterEach(() => rm(tree, { recursive: true, force: true }))

const put = (name: string, content = 'content') => writeFile(join(folder, name), content)
const found = (since = 0) => artifactFiles(tree, since)
const refusedIn = async () =>
  Object.fromEntries((await found()).refused.map((one) => [one.path, one.because]))

test('files are found in folders too, in order, and read', async () => {
  await put('b.txt')
  await mkdir(join(folder, 'a/deep'), { recursive: true })
  await put('a/deep/page.html', '<p>')
  const { paths, refused, read } = await found()
  expect(paths).toEqual(['a/deep/page.html', 'b.txt'])
  expect(refused).toEqual([])
  expect(String(await read('a/deep/page.html'))).toBe('<p>')
})

test('what has not changed since a time is passed over, links too', async () => {
  await put('old.txt')
  await symlink('/etc/passwd', join(folder, 'link'))
  expect(await found(Date.now() + 60_000)).toMatchObject({ paths: [], refused: [] })
})

test('without the folder there is nothing', async () => {
  await rm(join(tree, '.flightdeck'), { recursive: true })
  expect(await found()).toMatchObject({ paths: [], refused: [] })
})

test('links, pipes, hard links, files that are too large and odd names are refused, each with its reason', async () => {
  await writeFile(join(tree, 'secret'), 'secret')
  await symlink('../../secret', join(folder, 'link'))
  await symlink('/etc', join(folder, 'folder'))
  await link(join(tree, 'secret'), join(folder, 'hard'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  await put('sparse.mp4')
  await truncate(join(folder, 'sparse.mp4'), 1024 ** 3)
  await put('..\\..\\up.txt')
  await put('a\nb\u202etxt.png')
  await put('x'.repeat(201))
  await put('good.txt')
  const odd = 'its name is too long or has characters that cannot be shown'
  expect((await found()).paths).toEqual(['good.txt'])
  expect(await refusedIn()).toEqual({
    link: 'it is a link',
    folder: 'it is a link',
    hard: 'it is a hard link to another file',
    pipe: 'it is no plain file',
    'sparse.mp4': 'it is larger than 10 MB',
    '..\\..\\up.txt': odd,
    'a\nb\u202etxt.png': odd,
    ['x'.repeat(201)]: odd,
  })
})

// Attacks artifacts: a file becomes a link between the look at it and its reading.
test('a file that became a link is not read', async () => {
  await put('shot.png')
  const { paths, read } = await found()
  expect(paths).toEqual(['shot.png'])
  await rm(join(folder, 'shot.png'))
  await symlink('/etc/passwd', join(folder, 'shot.png'))
  expect(await read('shot.png')).toBeNull()
})

// Attacks artifacts: the folder of artifacts, or the one above it, is a link.
test.each(['.flightdeck', artifactFolder])('a link in the place of %s is not followed', async (path) => {
  const elsewhere = join(tree, 'elsewhere')
  await mkdir(join(elsewhere, 'artifacts'), { recursive: true })
  for (const at of [elsewhere, join(elsewhere, 'artifacts')])
    await writeFile(join(at, 'secret.txt'), 'secret')
  await rm(join(tree, path), { recursive: true })
  await symlink(elsewhere, join(tree, path))
  expect(await found()).toMatchObject({ paths: [], refused: [{ path, because: 'it is no folder' }] })
})

// Attacks artifacts: a folder with too many files to look at.
test('of many files only the first are looked at', async () => {
  await Promise.all(Array.from({ length: 1_010 }, (_, at) => put(`${at}.txt`, '')))
  const { paths, refused } = await found()
  expect(paths).toHaveLength(1_000)
  expect(refused).toEqual([
    { path: artifactFolder, because: 'only its first 1000 files and folders were looked at' },
  ])
})
