import { execFileSync } from 'node:child_process'
import {
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultArchiveLimits, packFolders, unpackFolders } from './archive.ts'
import { packTar, readTar } from './tar.ts'
import { testPath, writeIn } from '../../../../tests/runner/workspaceScene.ts'

const folders = ['.claude/projects']
const session = '.claude/projects/-workspace/0199c6c2-1111-7000-8000-000000000001.jsonl'

describe("folders of an agent's home", () => {
  let root: string
  let home: string
  let other: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'flightdeck-archive-'))
    home = join(root, 'home')
    other = join(root, 'other')
    for (const dir of [home, other]) await mkdir(dir)
    await writeIn(home, session, '{"type":"user"}\n')
    await writeIn(root, 'secret/passwords.jsonl', 'the secret of another\n')
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  const listing = async (dir: string) => (await readdir(dir, { recursive: true })).sort()

  test('are the same in another home, and nothing beside them is', async () => {
    await writeIn(home, '.claude/projects/-workspace/binary', Uint8Array.of(0, 255, 10))
    await writeIn(home, '.claude/projects/empty', '')
    await writeIn(home, '.bashrc', 'echo no\n')
    const packed = await packFolders(home, [...folders, '.not/there'])
    expect(packed).toMatchObject({ files: 3, isCut: false, leftOut: [] })
    expect(await unpackFolders(other, folders, packed.archive)).toBe('unpacked')
    expect(await listing(join(other, '.claude/projects'))).toEqual(
      await listing(join(home, '.claude/projects')),
    )
    expect(await readFile(join(other, session), 'utf8')).toBe('{"type":"user"}\n')
    expect(await readFile(join(other, '.claude/projects/-workspace/binary'))).toEqual(Buffer.of(0, 255, 10))
    expect(await readdir(other)).toEqual(['.claude'])
    expect((await lstat(join(other, session))).mode & 0o777).toBe(0o600)
  })

  test('are the same bytes when they are the same files, and a tar for others', async () => {
    const { archive } = await packFolders(home, folders)
    expect((await packFolders(home, folders)).archive).toEqual(archive)
    await writeFile(join(root, 'a.tar'), gunzipSync(archive))
    const listed = execFileSync('tar', ['-tf', join(root, 'a.tar')], { env: { PATH: testPath } })
    expect(listed.toString()).toBe(`${session}\n`)
  })

  test('go over what is there', async () => {
    const { archive } = await packFolders(home, folders)
    await writeIn(other, session, 'a longer one from before\n')
    await unpackFolders(other, folders, archive)
    expect(await readFile(join(other, session), 'utf8')).toBe('{"type":"user"}\n')
  })

  test('hold no link, no pipe and no file with a second name', async () => {
    const inside = join(home, '.claude/projects')
    await symlink(join(root, 'secret/passwords.jsonl'), join(inside, 'link'))
    await symlink(join(root, 'secret'), join(inside, 'folder'))
    await link(join(root, 'secret/passwords.jsonl'), join(inside, 'second-name'))
    execFileSync('mkfifo', [join(inside, 'pipe')])
    const packed = await packFolders(home, folders)
    expect(packed.files).toBe(1)
    expect(packed.leftOut.map((path) => path.slice('.claude/projects/'.length))).toEqual([
      'folder',
      'link',
      'pipe',
      'second-name',
    ])
    expect(gunzipSync(packed.archive).includes('the secret')).toBe(false)
  })

  test('are packed from so many files and folders, and no more are looked at', async () => {
    for (let n = 0; n < 20; n += 1) await writeIn(home, `.claude/projects/many/${n}`, '')
    const packed = await packFolders(home, folders, { ...defaultArchiveLimits, entries: 5 })
    expect(packed.files + packed.leftOut.length).toBeLessThanOrEqual(5)
  })

  test('hold every plain file, however many links are beside it', async () => {
    const inside = join(home, '.claude/projects')
    for (let n = 1_000; n < 2_001; n += 1) await symlink('nowhere', join(inside, `+${n}`))
    const packed = await packFolders(home, folders)
    expect(packed).toMatchObject({ files: 1, isCut: false })
    expect(packed.leftOut).toHaveLength(1_000)
    expect(gunzipSync(packed.archive).includes(session)).toBe(true)
  })

  test('are not read where a folder on the way is a link, whichever it is', async () => {
    await rename(join(home, '.claude'), join(home, 'was'))
    await symlink(join(root, 'secret'), join(home, '.claude'))
    await mkdir(join(root, 'secret/projects'))
    await writeIn(root, 'secret/projects/x.jsonl', 'the secret of another\n')
    const packed = await packFolders(home, folders)
    expect(packed).toMatchObject({ files: 0, leftOut: ['.claude/projects/x.jsonl'] })
  })

  test('go no further than the limits, and say what is left out', async () => {
    for (const n of [1, 2, 3]) await writeIn(home, `.claude/projects/${n}`, 'x'.repeat(1_000))
    const few = await packFolders(home, folders, { ...defaultArchiveLimits, files: 2 })
    expect(few).toMatchObject({
      files: 2,
      isCut: true,
      leftOut: ['.claude/projects/2', '.claude/projects/3'],
    })
    const small = await packFolders(home, folders, { ...defaultArchiveLimits, bytes: 1_500 })
    expect(small).toMatchObject({ isCut: true, leftOut: ['.claude/projects/2', '.claude/projects/3'] })
    const bomb = gzipSync(Buffer.alloc(3_000_000))
    expect(await unpackFolders(other, folders, bomb, undefined, { limits: { files: 1, bytes: 1_000 } })).toBe(
      'unreadable',
    )
  })

  test.each([
    '../../ran',
    '/etc/ran',
    '.claude/projects/../../ran',
    '.bashrc',
    '.claude/projects//ran',
    'ran',
  ])('are not written outside of themselves: %s', async (path) => {
    const [fine, evil] = [Buffer.from('fine\n'), Buffer.from('evil\n')]
    const archive = gzipSync(
      await packTar([
        { path: session, content: fine },
        { path, content: evil },
      ]),
    )
    expect(await unpackFolders(other, folders, archive)).toBe('unreadable')
    expect(await readdir(other)).toEqual([])
  })

  test('are written through no link', async () => {
    const { archive } = await packFolders(home, folders)
    await symlink(join(root, 'secret'), join(other, '.claude'))
    expect(await unpackFolders(other, folders, archive)).toBe('in_the_way')
    expect(await readdir(join(root, 'secret'))).toEqual(['passwords.jsonl'])
    await rm(join(other, '.claude'))
    await writeIn(other, session, '')
    await rm(join(other, session))
    await symlink(join(root, 'secret/passwords.jsonl'), join(other, session))
    expect(await unpackFolders(other, folders, archive)).toBe('in_the_way')
    expect(await readFile(join(root, 'secret/passwords.jsonl'), 'utf8')).toBe('the secret of another\n')
  })

  test('of the system with links in them are not taken', async () => {
    await symlink('/etc', join(home, '.claude/projects/link'))
    const tar = execFileSync('tar', ['-C', home, '-cf', '-', '.claude/projects'], { env: { PATH: testPath } })
    expect(await unpackFolders(other, folders, gzipSync(tar))).toBe('unreadable')
    expect(await unpackFolders(other, folders, Buffer.from('no archive'))).toBe('unreadable')
  })
})

test('any file is read back as it was', async () => {
  const name = fc.stringMatching(/^[a-zé-]{1,60}$/)
  const path = fc.array(name, { minLength: 1, maxLength: 8 }).map((names) => names.join('/'))
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(path, fc.uint8Array({ maxLength: 1_500 })), { maxLength: 5 }),
      async (written) => {
        const files = written.map(([at, content]) => ({ path: at, content: Buffer.from(content) }))
        expect(await readTar(await packTar(files))).toEqual(files)
      },
    ),
  )
})

test('a path of any length is read back, and an archive without its end is refused', async () => {
  for (const path of ['n'.repeat(101), `${'d/'.repeat(90)}${'n'.repeat(100)}`, 'd/'.repeat(2_000) + 'n']) {
    const files = [{ path, content: Buffer.alloc(0) }]
    expect(await readTar(await packTar(files))).toEqual(files)
  }
  expect(await readTar(Buffer.alloc(0))).toBeNull()
  const whole = await packTar([{ path: 'a', content: Buffer.from('a') }])
  expect(await readTar(whole.subarray(0, -1_024))).toBeNull()
  expect(await readTar(whole.subarray(0, 700))).toBeNull()
})

test('archives that earlier versions wrote are read: ustar with names in UTF-8', async () => {
  const header = Buffer.alloc(512)
  for (const [text, at] of [
    ['café', 0],
    ['0000600\0', 100],
    ['0000000\0', 108],
    ['0000000\0', 116],
    ['00000000002\0', 124],
    ['00000000000\0', 136],
    ['        0', 148],
    ['ustar\x0000', 257],
    ['folder', 345],
  ] as const)
    header.write(text, at, 'utf8')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const content = Buffer.alloc(512)
  content.write('hi')
  expect(await readTar(Buffer.concat([header, content, Buffer.alloc(1_024)]))).toEqual([
    { path: 'folder/café', content: Buffer.from('hi') },
  ])
})
