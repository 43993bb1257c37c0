import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findTestSandbox, treeGits } from '../../../../tests/runner/testSandbox.ts'
import { startGitServer, type TestGitServer } from '../../../../tests/runner/gitServer.ts'
import { makeScene, testGit, writeIn, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { commitOf, gitText } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'
import { commitAndPush, type PublishRequest } from './publish.ts'

const ways = treeGits(await findTestSandbox())
const author = { name: 'Grace Hopper', email: 'grace@example.com' }
const encrypted = Buffer.from('00474954435259505400aabbccddeeff00112233445566778899', 'hex')
const pointerOf = (digit: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize 12345\n`

for (const [way, gitFor] of ways)
  describe.skipIf(!gitFor)(`repository F1: clean filters, read by git ${way}`, () => {
    let scene: Scene
    let server: TestGitServer
    let workspace: Workspace
    beforeEach(async () => {
      scene = await makeScene({
        '.gitattributes':
          '[attr]hidden filter=git-crypt diff=git-crypt\nsecrets.env hidden\n*.bin filter=lfs diff=lfs merge=lfs -text\n',
        'deep/.gitattributes': '*.yaml filter=sops\n',
        'secrets.env': encrypted,
        'logo.bin': pointerOf('a'),
        'a.txt': 'a\n',
      })
      server = await startGitServer(scene.root)
      workspace = await scene.prepare()
    })
    afterEach(async () => {
      await server.stop()
      await scene.remove()
    })

    const publish = (asked: Partial<PublishRequest> = {}) =>
      commitAndPush({
        git: testGit,
        treeGit: gitFor?.(workspace) ?? testGit,
        workspace,
        message: 'A change',
        author,
        secrets: [],
        url: `${server.url}/remote.git`,
        ...asked,
      })
    const atHost = () => commitOf(testGit, scene.remote, `refs/heads/${workspace.branch}`)
    const refusal = async (asked: Partial<PublishRequest> = {}) => {
      const before = await atHost()
      const refused = await publish(asked)
      expect(await atHost()).toBe(before)
      return refused.kind === 'not_committable' ? refused.message : refused.kind
    }

    // Holds findings 1.89.
    test('content on paths with a filter is refused, with the paths and the filters named', async () => {
      await writeIn(workspace.dir, 'secrets.env', 'NAME=value\n')
      await writeIn(workspace.dir, 'new.bin', Buffer.alloc(5_000, 1))
      await writeIn(workspace.dir, 'deep/new\nline.yaml', 'a: b\n')
      await writeIn(workspace.dir, 'a.txt', 'b\n')
      const said = await refusal()
      for (const part of ['secrets.env', 'new.bin', 'deep/new\nline.yaml', 'git-crypt', 'lfs', 'sops'])
        expect(said).toContain(part)
      expect(said).not.toContain('a.txt')
      expect(said).toMatch(/Nothing was committed\./)
    })

    // Holds findings 1.90.
    test('attributes that an agent changed or removed take no path out', async () => {
      await writeIn(workspace.dir, 'secrets.env', 'NAME=value\n')
      for (const attributes of ['', 'secrets.env !filter\n', 'secrets.env -filter\n', '* filter=lfs\n']) {
        await writeIn(workspace.dir, '.gitattributes', attributes)
        expect(await refusal()).toContain('secrets.env')
      }
      await writeIn(workspace.dir, '.git/info/attributes', 'secrets.env !filter\n')
      await unlink(join(workspace.dir, '.gitattributes'))
      expect(await refusal()).toContain('secrets.env')
    })

    test('attributes that are published first, and content later, do not either', async () => {
      await writeIn(workspace.dir, '.gitattributes', '')
      expect(await publish()).toMatchObject({ kind: 'published', pushed: true })
      await writeIn(workspace.dir, 'secrets.env', 'NAME=value\n')
      expect(await refusal()).toContain('secrets.env')
    })

    test('a filter that the agent itself asks for counts too', async () => {
      await writeIn(workspace.dir, '.gitattributes', '*.key filter=transcrypt\n')
      await writeIn(workspace.dir, 'my.key', 'key\n')
      expect(await refusal()).toMatch(/my\.key .*filter=transcrypt/)
    })

    test('an owner who allows one filter by name allows no other', async () => {
      await writeIn(workspace.dir, 'secrets.env', 'NAME=value\n')
      await writeIn(workspace.dir, 'logo.bin', Buffer.alloc(5_000, 1))
      const said = await refusal({ allowedFilters: ['lfs'] })
      expect(said).toContain('secrets.env')
      expect(said).not.toContain('logo.bin')
      // A path that one set of attributes gives to an allowed filter, and another to one that is not.
      await writeIn(workspace.dir, '.gitattributes', '* filter=lfs\n')
      expect(await refusal({ allowedFilters: ['lfs'] })).toContain('secrets.env')
      expect(await publish({ allowedFilters: ['lfs', 'git-crypt'] })).toMatchObject({ pushed: true })
    })

    test('what is filtered already is published: pointers, deletions, and what the base has by now', async () => {
      await writeIn(workspace.dir, 'other.bin', pointerOf('b'))
      await unlink(join(workspace.dir, 'logo.bin'))
      const rotated = Buffer.concat([encrypted, Buffer.from('ff', 'hex')])
      await scene.commit({ 'secrets.env': rotated })
      await scene.refresh()
      await writeIn(workspace.dir, 'secrets.env', rotated)
      await writeIn(workspace.dir, 'b.txt', 'b\n')
      expect(await publish()).toMatchObject({ kind: 'published', pushed: true })
    })

    test('a text that only begins like a pointer is none', async () => {
      await writeIn(workspace.dir, 'other.bin', `${pointerOf('b')}and a secret\n`)
      expect(await refusal()).toContain('other.bin')
    })

    test('attributes that somebody else pushed to the branch meanwhile count', async () => {
      await writeIn(workspace.dir, 'a.txt', 'b\n')
      expect(await publish()).toMatchObject({ kind: 'published', pushed: true })
      await scene.commit({ '.gitattributes': '*.txt filter=git-crypt\n' }, workspace.branch)
      await writeIn(workspace.dir, 'b.txt', 'plain\n')
      expect(await refusal({ applyPatch: async () => null })).toMatch(/b\.txt .*filter=git-crypt/)
      expect(
        await gitText(testGit, { gitDir: scene.remote, args: ['ls-tree', '--name-only', workspace.branch] }),
      ).not.toContain('b.txt')
    })
  })
