import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testPath } from '../../../../tests/runner/workspaceScene.ts'
import { commitAs, openCommitSigner } from './commitIdentity.ts'

let root = ''
beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'flightdeck-signer-'))))
afterEach(() => rm(root, { recursive: true, force: true }))

const bot = { name: 'Flightdeck', email: 'bot@example.com' }
const open = (key: string | null) =>
  openCommitSigner({ root, path: testPath }, key === null ? null : { ...bot, key })
async function newKey(passphrase: string): Promise<string> {
  const file = join(root, 'new')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', file])
  const key = await readFile(file, 'utf8')
  await Promise.all([file, `${file}.pub`].map((path) => rm(path)))
  return key
}

test('the key that signs is in a file of its own that nobody else can read, until a start without one', async () => {
  const signer = await open(await newKey(''))
  expect(signer).toEqual({ ...bot, keyFile: join(root, 'commit-signing-key') })
  expect((await stat(join(root, 'commit-signing-key'))).mode & 0o777).toBe(0o600)
  expect(await open(null)).toBeUndefined()
  expect(await readdir(root)).toEqual([])
})

test.each([
  ['has a passphrase', () => newKey('swordfish')],
  ['is none', async () => '-----BEGIN OPENSSH PRIVATE KEY-----\nbm9uZQ==\n-----END OPENSSH PRIVATE KEY-----'],
])('a key that %s is refused, and not kept', async (_, key) => {
  await expect(open(await key())).rejects.toThrow(/^Nothing can be signed with COMMIT_SIGNING_KEY: ./)
  expect(await readdir(root)).toEqual([])
})

test('where there is no ssh-keygen that is said, and the key is not kept', async () => {
  const key = await newKey('')
  const opening = openCommitSigner({ root, path: '/nonexistent' }, { ...bot, key })
  await expect(opening).rejects.toThrow(/ssh-keygen, of OpenSSH 8.1 or later, is not installed/)
  expect(await readdir(root)).toEqual([])
})

test('names and addresses stay on one line, and an address stands in for a name that is missing', () => {
  expect(commitAs({ name: 'A\nB', email: 'a@b\n' }, undefined).env).toMatchObject({
    GIT_AUTHOR_NAME: 'A B',
    GIT_COMMITTER_EMAIL: 'a@b',
  })
  expect(commitAs({ name: ' ', email: '' }, undefined).env).toMatchObject({
    GIT_AUTHOR_NAME: 'noreply@localhost',
    GIT_AUTHOR_EMAIL: 'noreply@localhost',
  })
})
