/** A project's settings, and their effects on its tasks: setup, variables, secrets that cannot be read again, and hosts that may be reached. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { deleteProject, getProject } from '#domain/api/projects.schema.ts'
import {
  getProjectSettings,
  removeProjectSecret,
  setProjectSecret,
  updateProjectSettings,
} from '#domain/api/projectSettings.schema.ts'
import {
  cancelTask,
  createPullRequest,
  executeTask,
  getTask,
  getTaskDiff,
  type Task,
} from '#domain/api/tasks.schema.ts'
import { defaultIssueRule } from '#domain/project/issueRule.ts'
import { defaultRule } from '#domain/task/codeHost/feedbackRule.ts'
import { projectSecrets } from '#platform/credentials/projectSecrets.ts'
import { gitDone } from '../contracts/codeHost.fixture.ts'
import { bareRepository, pushElsewhere } from './pushing.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'
import { openStoppedProduct } from './stoppedProduct.ts'

const secret = 'swordfish-of-the-project'
const shared = 'trout-that-the-agent-may-have'
const reach = 'curl -sS -m 10 https://somewhere.example/'
const keyLine = 'b25lIGxpbmUgb2YgYSBrZXkgb2YgbWFueSBsaW5lcw'
const look = 'echo "stage=$STAGE secret=${TOKEN:-none} shared=$SHARED"; cat setup.log'

let scene: Scene
/** Everything that anybody was told. */
const told: string[] = []
beforeAll(async () => {
  scene = await openScene(
    [
      {
        when: /Look around/,
        turns: [
          { tools: [{ name: 'Bash', input: { command: look, description: 'Look around' } }] },
          { text: 'I have looked around.' },
        ],
      },
      {
        when: /Reach out/,
        turns: [
          { tools: [{ name: 'Bash', input: { command: reach, description: 'Reach out' } }] },
          { text: 'I could not.' },
        ],
      },
      {
        when: /Use the own tool/,
        turns: [
          { tools: [{ name: 'Bash', input: { command: 'own-tool turn', description: 'Use it' } }] },
          { text: 'I have used it.' },
        ],
      },
      { when: /Once more/, turns: [{ text: 'Nothing more to do.' }] },
    ],
    { env: { LOG_LEVEL: 'debug' } },
  )
})
afterAll(() => scene?.close())

const settings = async (projectId = scene.projectId) =>
  (await scene.ada.ask(getProjectSettings, { params: { projectId } })).settings
const change = (body: Parameters<typeof updateProjectSettings.body.parse>[0] & object) =>
  scene.ada.ask(updateProjectSettings, { params: { projectId: scene.projectId }, body })
const setSecret = (name: string, value: string, forAgent = false) =>
  scene.ada.ask(setProjectSecret, { params: { projectId: scene.projectId, name }, body: { value, forAgent } })
async function terminalOf(taskId: string): Promise<string> {
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
  const text = output.map(({ content }) => content).join('')
  told.push(text)
  return text
}
/** The number of the turn or command that comes next. */
async function nextTurn(taskId: string): Promise<number> {
  const { task } = await scene.ada.ask(getTask, { params: { taskId } })
  return (task.execution?.turn ?? 0) + 1
}
const isOver = (turn: number) => (task: Task) =>
  hasEnded(task) && task.execution?.turn === turn && task.execution.endedAt !== null
async function goOn(taskId: string, message: string): Promise<void> {
  const turn = await nextTurn(taskId)
  await scene.ada.ask(sendMessage, { params: { taskId }, body: { message } })
  await scene.ada.taskOnce(taskId, isOver(turn))
}
async function execute(taskId: string, command: string): Promise<string> {
  const before = await terminalOf(taskId)
  const turn = await nextTurn(taskId)
  await scene.ada.ask(executeTask, { params: { taskId }, body: { command, withSecrets: true } })
  await scene.ada.taskOnce(taskId, isOver(turn))
  return (await terminalOf(taskId)).slice(before.length)
}

describe('the settings', () => {
  test('are none at first, changed one by one, and read as they are then', async () => {
    expect(await settings()).toEqual({
      setupCommand: '',
      variables: [],
      secrets: [],
      egress: [],
      modelFetches: false,
      modelKeys: [],
      allowedFilters: [],
      draftPullRequests: false,
      submodules: [],
      allowedHooks: null,
      services: [],
      feedback: defaultRule,
      issues: defaultIssueRule,
      issueDecisions: [],
      issuesUnread: null,
    })
    const { settings: first } = await change({ variables: [{ name: 'STAGE', value: 'test' }] })
    expect(first.variables).toEqual([{ name: 'STAGE', value: 'test' }])
    await change({ egress: ['Example.org', 'example.org', '*.example.net:8443'] })
    expect(await settings()).toEqual({
      setupCommand: '',
      variables: [{ name: 'STAGE', value: 'test' }],
      secrets: [],
      egress: ['example.org', '*.example.net:8443'],
      modelFetches: false,
      modelKeys: [],
      allowedFilters: [],
      draftPullRequests: false,
      submodules: [],
      allowedHooks: null,
      services: [],
      feedback: defaultRule,
      issues: defaultIssueRule,
      issueDecisions: [],
      issuesUnread: null,
    })
  })

  test('tell the names of secrets, and never a value', async () => {
    await setSecret('TOKEN', 'an older value')
    await setSecret('GONE', 'of no more use')
    await setSecret('TOKEN', secret)
    const { settings: after } = await setSecret('SHARED', shared, true)
    const named = [
      { name: 'GONE', forAgent: false, updatedAt: expect.any(String) },
      { name: 'SHARED', forAgent: true, updatedAt: expect.any(String) },
      { name: 'TOKEN', forAgent: false, updatedAt: expect.any(String) },
    ]
    expect(after.secrets).toEqual(named)
    const params = { projectId: scene.projectId, name: 'GONE' }
    await scene.ada.ask(removeProjectSecret, { params })
    expect(await scene.ada.refused(removeProjectSecret, { params })).toMatchObject({ status: 404 })
    expect((await settings()).secrets).toEqual(named.slice(1))
  })

  test('refuse what would change the sandbox, with the field', async () => {
    const params = { projectId: scene.projectId }
    const refused = (body: object) => scene.ada.refused(updateProjectSettings, { params, body })
    expect(await refused({ variables: [{ name: 'LD_PRELOAD', value: 'x' }] })).toMatchObject({
      status: 400,
      field: 'variables.0.name',
    })
    expect(await refused({ egress: ['https://example.org/'] })).toMatchObject({
      status: 400,
      field: 'egress.0',
    })
    expect(await refused({ variables: [{ name: 'TOKEN', value: 'x' }] })).toMatchObject({ status: 400 })
    expect(
      await scene.ada.refused(setProjectSecret, {
        params: { ...params, name: 'PATH' },
        body: { value: secret },
      }),
    ).toMatchObject({ status: 400, field: 'name' })
  })

  test('stay as they are when one of them is refused', async () => {
    const before = await settings()
    const body = { draftPullRequests: true, variables: [{ name: 'TOKEN', value: 'x' }] }
    const params = { projectId: scene.projectId }
    expect(await scene.ada.refused(updateProjectSettings, { params, body })).toMatchObject({
      status: 400,
      field: 'variables',
    })
    expect(await settings()).toEqual(before)
  })

  test('set twice under one key have the first value, and a later one stands', async () => {
    const params = { projectId: scene.projectId, name: 'KEYED' }
    const headers = { 'idempotency-key': 'set-keyed' }
    const first = { params, headers, body: { value: 'the first of them' } }
    await scene.ada.ask(setProjectSecret, first)
    await setSecret('KEYED', 'the second one', true)
    const { settings: repeated } = await scene.ada.ask(setProjectSecret, first)
    expect(repeated.secrets.find(({ name }) => name === 'KEYED')?.forAgent).toBe(true)
    const { ada } = scene
    const task = await ada.task(scene.projectId, 'Once more')
    await ada.taskOnce(task.id, hasEnded)
    expect(await execute(task.id, 'test "$KEYED" = "the second one" && echo kept')).toContain('\nkept\n')
    await ada.ask(removeProjectSecret, { params })
  })

  test('with a PATH have its folders searched for programs, by setup, the agent and commands', async () => {
    await change({
      variables: [{ name: 'PATH', value: './tools:~/bin' }],
      setupCommand:
        'mkdir tools && printf \'#!/bin/sh\\necho "the own tool of a $1"\\n\' > tools/own-tool && chmod +x tools/own-tool && own-tool setup',
    })
    const { id } = await scene.ada.task(scene.projectId, 'Use the own tool')
    await scene.ada.taskOnce(id, hasEnded)
    expect(await terminalOf(id)).toContain('the own tool of a setup\n')
    expect(JSON.stringify(scene.api.requests.at(-1)?.body)).toContain('the own tool of a turn')
    expect(await execute(id, 'own-tool command; echo "$PATH"')).toMatch(
      /\nthe own tool of a command\n\S+\/tools:\S+\/bin:\S*:?\/usr\/local\/s?bin:/,
    )
    await change({ variables: [{ name: 'STAGE', value: 'test' }], setupCommand: '' })
  })
})

describe('a task', () => {
  let taskId = ''
  beforeAll(async () => {
    await change({ setupCommand: 'echo "set up with $TOKEN for $STAGE" | tee -a setup.log' })
    taskId = (await scene.ada.task(scene.projectId, 'Look around')).id
    await scene.ada.taskOnce(taskId, hasEnded)
  })

  test('is set up first, in sight, without its secrets showing', async () => {
    const terminal = await terminalOf(taskId)
    expect(terminal).toContain('set up with [redacted] for test\n')
    expect(terminal).toMatch(/The workspace was set up in \d+\.\d s\./)
  })

  test('gives its agent the variables, and of the secrets what is marked for it', async () => {
    const asked = JSON.stringify(scene.api.requests.at(-1)?.body)
    expect(asked).toContain('stage=test secret=none')
    expect(asked).toContain(`shared=${shared}`)
    expect(await terminalOf(taskId)).toContain('shared=[redacted]')
  })

  test('is set up once, and again when the command is another', async () => {
    await goOn(taskId, 'Once more')
    expect(await execute(taskId, 'wc -l < setup.log')).toContain('\n1\n')
    await change({ setupCommand: 'echo "again" >> setup.log' })
    await goOn(taskId, 'Once more')
    expect(await execute(taskId, 'wc -l < setup.log')).toContain('\n2\n')
  })

  test('gives its agent what the settings are by then, also to one that waited', async () => {
    await change({ variables: [{ name: 'STAGE', value: 'production' }] })
    await goOn(taskId, 'Look around again')
    expect(JSON.stringify(scene.api.requests.at(-1)?.body)).toContain('stage=production')
    await change({ variables: [{ name: 'STAGE', value: 'test' }] })
  })

  test('tells what its agent did not reach in the turn that tried, also of one that waited', async () => {
    await goOn(taskId, 'Once more')
    const before = await terminalOf(taskId)
    await goOn(taskId, 'Reach out')
    const after = (await terminalOf(taskId)).slice(before.length)
    expect(after).toContain('somewhere.example:443 was not reached')
    const asked = JSON.stringify(scene.api.requests.at(-1)?.body)
    expect(asked).toContain('CONNECT tunnel failed')
  })

  test('gives those of its commands all of them that are sent with secrets', async () => {
    const ran = await execute(
      taskId,
      'echo "$STAGE ${#TOKEN} ${#SHARED} $TOKEN $(printf %s "$TOKEN" | base64)"',
    )
    expect(ran).toContain(`\ntest ${secret.length} ${shared.length} [redacted] [redacted]`)
  })

  test('does not show a secret of many lines when one of them is printed', async () => {
    await setSecret('PEM', `-----BEGIN A KEY-----\n${keyLine}\n-----END A KEY-----\n`)
    const ran = await execute(taskId, 'echo "$PEM" | sed -n 2p; echo "$PEM" | wc -l')
    expect(ran).toContain('\n[redacted]\n')
    expect(ran).not.toContain(keyLine)
  })

  test('that writes a secret into a file shows it in no diff, and pushes it nowhere', async () => {
    const { ada, product } = scene
    await execute(taskId, 'printf "a\\n%s\\nb\\n" "$TOKEN" > kept.env')
    const bare = await bareRepository(product.dataDir)
    const clone = join(product.dataDir, 'clone-for-a-base')
    await gitDone(bare, ['branch', 'another-base', 'main'])
    await pushElsewhere({ dataDir: product.dataDir, clone, branch: 'another-base' }, { 'theirs.txt': '1\n' })
    await rm(clone, { recursive: true })
    for (const query of [{}, { baseBranch: 'another-base' }]) {
      const { data: changes } = await ada.ask(getTaskDiff, { params: { taskId }, query })
      told.push(JSON.stringify(changes))
      const diffs = new Map(changes.changedFiles.map(({ fileName, diff }) => [fileName, diff]))
      expect(diffs.get('kept.env')).toContain('\n+a\n+[redacted]\n+b\n')
      expect(diffs.get('setup.log')).toContain('\n+set up with [redacted] for test\n')
      expect(changes.commitComparison?.behind).toBe('baseBranch' in query ? 1 : 0)
    }
    const refused = await ada.refused(createPullRequest, { params: { taskId } })
    expect(refused.error).toMatch(
      /^kept\.env holds the project's secret TOKEN, .*\.gitignore, and ask again\.$/,
    )
    const branches = await gitDone(bare, ['branch', '--format=%(refname:short)'])
    expect(branches.split('\n').sort()).toEqual(['another-base', 'main'])
  })

  test('reaches git at the code host, and nothing else that is not allowed, which its terminal tells', async () => {
    const host = scene.product.codeHostUrl
    const refs = `${host}/ada/engine.git/info/refs?service=git-upload-pack`
    expect(await execute(taskId, `curl -sS -o /dev/null -w '%{http_code}' '${refs}'`)).toMatch(/\n200/)
    const ran = await execute(
      taskId,
      'curl -sS https://elsewhere.example/; curl -sS --noproxy "" -m 5 http://169.254.169.254/; echo done',
    )
    expect(ran).toContain(
      "elsewhere.example:443 was not reached: it is not among the hosts that the project's",
    )
    expect(ran).toContain('169.254.169.254 was not reached')
    expect(ran).toContain('done\n')
  })

  test('has the hosts suggested that its repository is configured with, which allows none of them', async () => {
    const { ada, product, projectId } = scene
    const clone = join(product.dataDir, 'clone-of-another')
    const registry = 'registry=https://user:password-of-npm@packages.example/npm/\n'
    await pushElsewhere({ dataDir: product.dataDir, clone, branch: 'main' }, { '.npmrc': registry })
    await execute(taskId, 'true')
    const { suggestions } = await ada.ask(getProjectSettings, { params: { projectId } })
    expect(suggestions).toContainEqual({ host: 'packages.example', from: '.npmrc' })
    expect(JSON.stringify(suggestions)).not.toContain('password-of-npm')
    expect((await settings()).egress).not.toContain('packages.example')
    await rm(clone, { recursive: true })
  })

  test('can be cancelled while it is set up, and is set up again when it goes on', async () => {
    const { ada } = scene
    await change({ setupCommand: 'echo begun; sleep 600' })
    const { id } = await ada.task(scene.projectId, 'Once more')
    await expect.poll(() => terminalOf(id)).toContain('\nbegun\n')
    await ada.ask(cancelTask, { params: { taskId: id } })
    await ada.taskOnce(id, ({ status }) => status === 'cancelled')
    await change({ setupCommand: 'echo done' })
    await goOn(id, 'Once more')
    expect(await terminalOf(id)).toContain('\ndone\n')
  })

  test('that cannot be set up fails with the reason, and tries again with the next attempt', async () => {
    const { ada } = scene
    await change({ setupCommand: 'echo tried; exit 3' })
    const { id } = await ada.task(scene.projectId, 'Look around')
    const ended = await ada.taskOnce(id, hasEnded)
    expect(ended.status).toBe('failed')
    expect(ended.failure).toMatchObject({
      code: 'setup_failed',
      reason: expect.stringContaining("The project's setup command ended with exit code 3."),
    })
    await change({ setupCommand: 'echo tried > setup.log' })
    await ada.ask(executeTask, { params: { taskId: id } })
    await ada.taskOnce(id, ({ status }) => status === 'completed')
    expect((await terminalOf(id)).match(/\$ echo tried/g)).toHaveLength(2)
  })
})

describe('a secret', () => {
  test('is in no file of the product, no answer and no log', async () => {
    const { ada, product, projectId } = scene
    told.push((await ada.api('GET', `/projects/${projectId}/settings`)).text)
    told.push(JSON.stringify(await ada.ask(getProject, { params: { projectId } })))
    told.push(product.logs.stderr, product.logs.stdout)
    const forms = [secret, Buffer.from(secret).toString('base64').slice(0, -4)]
    for (const form of forms) expect(told.join('\n')).not.toContain(form)
    const kept = (await filesBelow(product.dataDir)).filter((path) => !path.includes('/runner/tasks/'))
    const betraying: string[] = []
    for (const path of kept) {
      const bytes = await readFile(path)
      if (forms.some((form) => bytes.includes(form))) betraying.push(path)
    }
    expect(kept.length).toBeGreaterThan(5)
    expect(betraying).toEqual([])
  })

  test('is gone with its project', async () => {
    const { ada, product, projectId } = scene
    await ada.ask(deleteProject, { params: { projectId } })
    expect(await ada.refused(setProjectSecret, secretOf(projectId))).toMatchObject({ status: 404 })
    await product.kill9()
    const stored = await openStoppedProduct(product.dataDir)
    const names = ['TOKEN', 'SHARED']
    try {
      expect([...(await projectSecrets(stored).valuesOf(projectId, names)).keys()]).toEqual([])
    } finally {
      await stored.close()
    }
  })
})

const secretOf = (projectId: string) => ({ params: { projectId, name: 'TOKEN' }, body: { value: secret } })

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
