import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeLeftovers } from './leftovers.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flightdeck-left-'))
})
afterEach(() => rm(root, { recursive: true }))

async function files(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), '')
  }
}

test('locks and half-made things go, all else stays', async () => {
  const kept = [
    'tasks/a/git/HEAD',
    'tasks/a/git/objects/pack/pack-1.pack',
    'tasks/a/home/.claude/projects/s.jsonl',
    'tasks/a/tree/yarn.lock',
    'tasks/a/ready.json',
  ]
  await files(
    ...kept,
    'tasks/a/git/scratch-1/index',
    'tasks/a/git/index.lock',
    'tasks/a/git/objects/pack/tmp_pack_1',
    'tasks/a/git/objects/pack/tmp_idx_1',
    'tasks/a/home/.claude.json.lock',
    'tasks/a/home/.claude/plugins/store/x.json.lock',
  )
  await removeLeftovers(root)
  const found = await readdir(root, { recursive: true, withFileTypes: true })
  const left = found
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(root.length + 1))
  expect(left.toSorted()).toEqual(kept.toSorted())
})

test('of a folder with any number of files, only so many are looked at', async () => {
  await files(...Array.from({ length: 20 }, (_, n) => `tasks/a/home/.claude/${n}.lock`))
  await removeLeftovers(root, 5)
  expect(await readdir(join(root, 'tasks/a/home/.claude'))).toHaveLength(15)
})

test('a link of an agent leads nowhere', async () => {
  await files('elsewhere/mine.lock', 'tasks/a/home/.profile')
  await symlink(join(root, 'elsewhere'), join(root, 'tasks/a/home/.claude'))
  await removeLeftovers(root)
  expect(await readdir(join(root, 'elsewhere'))).toEqual(['mine.lock'])
})

test('a runner that has no workspaces yet starts as well', () =>
  expect(removeLeftovers(join(root, 'none'))).resolves.toBeUndefined())
