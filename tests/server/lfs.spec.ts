/** Git LFS: what an agent wrote is uploaded outside of the sandbox, and pointers are pushed. */
import { createHash } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import { gitDone, localRepository } from '../contracts/codeHost.fixture.ts'
import { ownFolder } from '../product.ts'
import { bareRepository } from './pushing.ts'
import { files, hasEnded, openScene, type Scene } from './scene.ts'

const pointerOf = (content: Buffer): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(content)}\nsize ${content.length}`
const oidOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

let folder = ''
let scene: Scene
beforeAll(async () => {
  folder = await ownFolder()
  const repository = join(folder, 'engine')
  await localRepository(repository, {
    ...files,
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'logo.bin': `${pointerOf(Buffer.from('before'))}\n`,
  })
  const command = 'head -c 100000 /dev/zero > logo.bin; : > empty.bin; printf new > new.bin; chmod +x new.bin'
  scene = await openScene(
    [
      {
        when: /Draw/,
        turns: [{ tools: [{ name: 'Bash', input: { command, description: 'Draw' } }] }, { text: 'Done.' }],
      },
    ],
    { repos: [repository] },
  )
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

// Holds findings 1.92.
test('repository F1: new content of files in Git LFS is uploaded, and pointers are pushed', async () => {
  const { ada, projectId, product } = scene
  const { id } = await ada.task(projectId, 'Draw')
  const { workingBranch } = await ada.taskOnce(id, hasEnded)
  const of = { params: { taskId: id } }
  const { output } = await ada.ask(getTerminal, of)
  expect(output.map(({ content }) => content).join('')).toContain('keeps files in Git LFS: here they are')
  expect((await ada.ask(createPullRequest, of)).pr.number).toBe(1)

  const bare = await bareRepository(product.dataDir)
  const at = (path: string) => gitDone(bare, ['show', `${workingBranch}:${path}`])
  const [logo, added] = [Buffer.alloc(100_000), Buffer.from('new')]
  expect((await at('logo.bin')).trim()).toBe(pointerOf(logo))
  expect((await at('new.bin')).trim()).toBe(pointerOf(added))
  expect(await at('empty.bin')).toBe('')
  expect(await gitDone(bare, ['ls-tree', workingBranch ?? '', 'new.bin'])).toMatch(/^100755 /)
  expect((await readdir(join(bare, 'lfs'))).toSorted()).toEqual([oidOf(logo), oidOf(added)].toSorted())
  expect(await readFile(join(bare, 'lfs', oidOf(logo)))).toEqual(logo)

  // Asked again with the same files, there is nothing new.
  const head = await gitDone(bare, ['rev-parse', workingBranch ?? ''])
  expect((await ada.ask(createPullRequest, of)).pr.number).toBe(1)
  expect(await gitDone(bare, ['rev-parse', workingBranch ?? ''])).toBe(head)
})
