import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filteredArchive, NotKept, searchFor } from './archiveFilter.ts'

const secret = 'swordfish-of-the-project'
const long = `${'folder-with-a-long-name/'.repeat(8)}file`

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-archive-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function files(contents: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}
const packed = (): Buffer =>
  execFileSync('tar', ['--create', '--format=gnu', '--file=-', '.'], { cwd: folder, maxBuffer: 1e9 })
async function* inPieces(archive: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < archive.length; at += bytes) yield archive.subarray(at, at + bytes)
}
async function filtered(archive: Buffer, pieceBytes = 65_536) {
  const leftOut: string[] = []
  const kept: Buffer[] = []
  const through = filteredArchive(inPieces(archive, pieceBytes), searchFor([secret]), (name) =>
    leftOut.push(name),
  )
  for await (const piece of through) kept.push(piece)
  const listed = execFileSync('tar', ['--list', '--file=-'], { input: Buffer.concat(kept), encoding: 'utf8' })
  return { leftOut, names: listed.split('\n').filter((name) => name !== '' && !name.endsWith('/')) }
}

// Attacks layers: a secret in a file, a link's target, a name, or encoded.
test.each([100, 512, 65_536])(
  'files with a secret are left out, in pieces of %i bytes',
  async (pieceBytes) => {
    await files({
      plain: 'nothing',
      [`${long}-kept`]: 'nothing',
      [`${long}-left`]: `a ${secret}`,
      encoded: Buffer.from(`user:${secret}`).toString('base64'),
      binary: Buffer.concat([Buffer.alloc(1_000), Buffer.from(secret), Buffer.alloc(1_000)]),
      large: Buffer.alloc(3 * 1024 ** 2, 'x'),
    })
    await symlink('/etc/passwd', join(folder, 'link'))
    await symlink(`https://${secret}@host`, join(folder, 'link-left'))
    await files({ [`${secret}/one`]: '', [`${long}-folder/${secret}-large`]: Buffer.alloc(3 * 1024 ** 2) })
    const { leftOut, names } = await filtered(packed(), pieceBytes)
    // The folder, the file in it, the link, and the large file.
    const unnamed = Array.from({ length: 4 }, () => 'a file with a secret in its name')
    expect(leftOut.toSorted()).toEqual(['./binary', './encoded', `./${long}-left`, ...unnamed].toSorted())
    expect(names.toSorted()).toEqual(['./large', './link', './plain', `./${long}-kept`].toSorted())
  },
)

test('pipes are left out in silence', async () => {
  await files({ plain: '' })
  execFileSync('mkfifo', [join(folder, 'pipe')])
  expect(await filtered(packed())).toEqual({ leftOut: [], names: ['./plain'] })
})

test('nothing packed is an empty archive', async () => {
  expect(await filtered(Buffer.alloc(0))).toEqual({ leftOut: [], names: [] })
})

// Attacks layers: what is packed is no archive.
test.each([
  ['cut short', (archive: Buffer) => archive.subarray(0, archive.length - 8_000)],
  ['no archive', (archive: Buffer) => Buffer.alloc(archive.length, 'x')],
])('what is %s is not kept', async (_, damage) => {
  await files({ plain: 'x'.repeat(10_000) })
  await expect(filtered(damage(packed().subarray(0, 11_776)))).rejects.toThrow(NotKept)
})

// Attacks layers: so many files that the search for secrets takes forever.
test('a search that would take too long is given up', () => {
  const { holdsSecret } = searchFor(Array.from({ length: 64 }, (_, at) => `${secret}-${at}`))
  const content = Buffer.alloc(0)
  Object.defineProperty(content, 'length', { value: 1024 ** 3 })
  expect(() => holdsSecret(content)).toThrow('There are too many files to search')
})
