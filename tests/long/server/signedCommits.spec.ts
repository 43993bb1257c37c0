/** Commits that this server signs with a key of its own, which no agent can see. */
import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import { gitDone } from '../../contracts/codeHost.fixture.ts'
import { bareRepository } from '../../server/pushing.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

let folder = ''
let scene: Scene
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-signing-'))
  const key = join(folder, 'key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key])
  await chmod(key, 0o600)
  const looks =
    'echo Hello. > hello.txt; find / -name commit-signing-key 2>/dev/null; env | grep COMMIT_; true'
  const look = { name: 'Bash', input: { command: looks, description: 'Work' } }
  scene = await openScene([{ when: /Say hello/, turns: [{ tools: [look] }, { text: 'Said.' }] }], {
    env: { COMMIT_SIGNING_KEY_FILE: key, COMMIT_SIGNER: 'Flightdeck <bot@example.com>' },
  })
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

test('a pull request has commits of the person that this server signed and committed', async () => {
  const { ada, product, projectId } = scene
  const { id } = await ada.task(projectId, 'Say hello')
  const { workingBranch } = await ada.taskOnce(id, hasEnded)
  const asked = { params: { taskId: id } }
  await ada.ask(createPullRequest, asked)
  const allowed = join(folder, 'allowed')
  await writeFile(allowed, `bot@example.com ${await readFile(join(folder, 'key.pub'), 'utf8')}`)
  const shown = ['log', '-1', '--format=%G? %cn <%ce>, %an', workingBranch ?? '']
  expect(
    await gitDone(await bareRepository(product.dataDir), [
      '-c',
      `gpg.ssh.allowedSignersFile=${allowed}`,
      ...shown,
    ]),
  ).toMatch(/^G Flightdeck <bot@example.com>, Ada/)
  const { output } = await ada.ask(getTerminal, asked)
  const terminal = output.map(({ content }) => content).join('')
  expect(terminal).not.toMatch(/commit-signing-key\n|COMMIT_SIGN/)
  const secret = (await readFile(join(folder, 'key'), 'utf8')).split('\n')[2] ?? ''
  expect(product.logs.stdout + product.logs.stderr).not.toContain(secret)
})
