/** What is kept of the files that an agent left for people, and of which type it is. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { artifactFolder, artifactLimits } from '#domain/api/artifacts.ts'
import { noArtifacts, type TaskArtifacts } from '#domain/task/artifactState.ts'
import type { ProgressEvent } from '#domain/task/events.ts'
import { checkImage } from '#platform/images/reencode.ts'
import { redacted } from '#platform/redaction/scan.ts'
import { executionId, taskId } from '../../../../tests/domain/ids.ts'
import { picture } from '../../../../tests/server/pictures.ts'
import { redactionOf } from '../../redaction/redaction.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import { keepArtifacts } from './artifacts.ts'

const secret = 'correct-horse-battery-staple'
const foreignSecret = 'größeres-Geheimnis-über-allem'

let tree: string
beforeEach(async () => {
  tree = await mkdtemp(join(tmpdir(), 'flightdeck-artifacts-'))
})
afterEach(() => rm(tree, { recursive: true, force: true }))

const put = async (name: string, content: string | Uint8Array) => {
  const path = join(tree, artifactFolder, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** Ends a turn, and returns what it kept by name, and what it said. */
async function endTurn(artifacts: TaskArtifacts = noArtifacts) {
  const stored: Buffer[] = []
  const reported: ProgressEvent[] = []
  const blobs = {
    async put(_scope: string, bytes: Uint8Array) {
      stored.push(Buffer.from(bytes))
      return { hash: 'a'.repeat(64), size: bytes.byteLength }
    },
  }
  await keepArtifacts(
    { blobs, checkImage },
    {
      task: { taskId: taskId(1), artifacts },
      treeDir: tree,
      executionId: executionId(1),
      begunAt: 0,
      redaction: redactionOf([secret, foreignSecret], textThreads()),
      report: async (...events) => void reported.push(...events),
    },
  )
  const kept = reported.flatMap((event) => (event.type === 'ArtifactKept' ? [event] : []))
  const said = reported.flatMap((event) => (event.type === 'MessagePosted' ? [event.content.message] : []))
  return {
    types: Object.fromEntries(kept.map(({ data, content }) => [content.name, data.mediaType])),
    digests: new Map(kept.map(({ content }) => [content.name, content.digest])),
    bytes: stored,
    said: said.join('\n'),
  }
}

const video = (brand: string) =>
  Buffer.concat([Buffer.of(0, 0, 0, 32), Buffer.from(`ftyp${brand}`), Buffer.alloc(64)])
const webm = Buffer.concat([
  Buffer.of(0x1a, 0x45, 0xdf, 0xa3),
  Buffer.from('\x9fB\x82\x84webm', 'latin1'),
  Buffer.alloc(9),
])
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

describe('the type', () => {
  test('is that of the bytes, whatever the name says', async () => {
    await put('shot.txt', await picture('image/png', 60, 40))
    await put('film.png', video('isom'))
    await put('film.webm', webm)
    await put('paper', '%PDF-1.7\nplain')
    await put('notes.md', '# Notes')
    await put('page.html', '<script>alert(1)</script>')
    const { types, said } = await endTurn()
    expect(types).toEqual({
      'shot.txt': 'image/png',
      'film.png': 'video/mp4',
      'film.webm': 'video/webm',
      paper: 'application/pdf',
      'notes.md': 'text/plain',
      'page.html': 'text/plain',
    })
    expect(said).toBe('')
  })

  // Attacks artifacts: a file that is two things at once, or whose name tells another type than its bytes.
  test('of everything that is unknown, damaged or several things at once is a download', async () => {
    const png = await picture('image/png', 60, 40)
    await put('a.svg', svg)
    await put('both.png', Buffer.concat([png, Buffer.from('<html><script>alert(1)</script>')]))
    await put('both.mp4', Buffer.concat([video('mp42'), Buffer.from('<script >alert(1)</script>')]))
    await put('zip.png', Buffer.concat([png, Buffer.from('PK\x03\x04\x14\0')]))
    await put('half.png', png.subarray(0, 90))
    await put('huge.png', await picture('image/png', 8_001, 1))
    await put('picture.avif', video('avif'))
    await put('program', Buffer.of(0x7f, 0x45, 0x4c, 0x46, 0))
    await put('run.js', 'alert(1)')
    const { types } = await endTurn()
    expect(new Set(Object.values(types))).toEqual(new Set(['application/octet-stream']))
    expect(Object.keys(types)).toHaveLength(9)
  })

  // Attacks artifacts: something is hidden behind the end of a picture.
  test('of an image is kept by writing it again, without what was hidden behind it', async () => {
    await put(
      'shot.png',
      Buffer.concat([await picture('image/png', 60, 40), Buffer.from(`hidden ${secret}`)]),
    )
    const { types, bytes } = await endTurn()
    expect(types).toEqual({ 'shot.png': 'image/png' })
    expect(bytes[0]?.includes(secret)).toBe(false)
  })
})

// Attacks artifacts: a secret in a file's text, bytes or name.
test('a secret is removed from text and names, and a file of bytes with one is refused by name', async () => {
  await put('run.log', `token: ${secret}\n`)
  await put(`${secret}.txt`, 'x')
  await put('core.bin', Buffer.concat([Buffer.of(0, 1), Buffer.from(secret), Buffer.of(0)]))
  await put('other.bin', Buffer.concat([Buffer.of(0, 1), Buffer.from(foreignSecret), Buffer.of(0)]))
  const { types, bytes, said } = await endTurn()
  expect(Object.keys(types)).toEqual([`${redacted}.txt`, 'run.log'])
  expect(bytes.map(String)).toEqual(['x', `token: ${redacted}\n`])
  expect(said).toBe(
    'Not kept of `.flightdeck/artifacts`:\n\n- `core.bin`, `other.bin`, because it contains a secret or a token',
  )
})

// Attacks artifacts: a secret at the place where a long name is cut.
test('a secret in a name that is too long does not show, not even in part', async () => {
  await put(`${'x'.repeat(artifactLimits.nameLength - secret.length + 1)}${secret}`, 'x')
  const { types, said } = await endTurn()
  expect(types).toEqual({})
  expect(said).toContain('because its name is too long')
  expect(said).not.toContain(secret.slice(0, 4))
})

test('only what is new or changed since the last turn is kept', async () => {
  await put('one.txt', '1')
  await put('two.txt', '2')
  const { digests } = await endTurn()
  await put('two.txt', '3')
  const { types } = await endTurn({ count: 2, bytes: 2, digests })
  expect(Object.keys(types)).toEqual(['two.txt'])
})

test('a turn keeps so many files, a task so many and so much, and what is left out is named', async () => {
  await Promise.all(Array.from({ length: 30 }, (_, at) => put(`${at + 10}.txt`, 'x')))
  const turn = await endTurn()
  expect(Object.keys(turn.types)).toHaveLength(20)
  expect(turn.said).toContain(
    '- `30.txt`, `31.txt`, `32.txt`, `33.txt`, `34.txt` and 5 more, because a turn leaves at most 20 files',
  )
  const many = await endTurn({ ...noArtifacts, count: artifactLimits.perTask - 2 })
  expect(Object.keys(many.types)).toHaveLength(2)
  expect(many.said).toContain('and 23 more, because a task keeps at most 200 files')
  const much = await endTurn({ ...noArtifacts, count: 1, bytes: artifactLimits.bytesOfTask - 3 })
  expect(Object.keys(much.types)).toHaveLength(3)
  expect(much.said).toContain('because a task keeps at most 100 MB')
})

// Attacks artifacts: so many files with secrets that the search for them takes forever.
test('a turn looks for secrets and types in so many files, also when it keeps none of them', async () => {
  await Promise.all(Array.from({ length: 30 }, (_, at) => put(`${at + 10}.bin`, `\0${secret}`)))
  await put('last.txt', 'x')
  const { types, said } = await endTurn()
  expect(types).toEqual({})
  expect(said).toContain('and 15 more, because it contains a secret or a token')
  expect(said).toContain('and 6 more, because a turn leaves at most 20 files')
})

// Attacks artifacts: a name that is Markdown.
test('what is refused is named in one message, in words that are no Markdown', async () => {
  await put('good.txt', 'x')
  await symlink('/etc/passwd', join(tree, artifactFolder, '[x](https:--evil.example)`@ada`'))
  const { types, said } = await endTurn()
  expect(Object.keys(types)).toEqual(['good.txt'])
  expect(said).toBe(
    'Not kept of `.flightdeck/artifacts`:\n\n- `` [x](https:--evil.example)`@ada` ``, because it is a link',
  )
})
