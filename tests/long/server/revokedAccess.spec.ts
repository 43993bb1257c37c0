/** Access that is revoked while the agent works: the work is kept, the chat says why and what to do, and work continues where it stopped. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { disconnectGitHub, getMe } from '#domain/api/auth.schema.ts'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { createPullRequest, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { gitDone } from '../../contracts/codeHost.fixture.ts'
import { renewableGate } from '../../standins/messagesApi.ts'
import { eventually } from '../../server/engines.ts'
import { bareRepository } from '../../server/pushing.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
const { gate, renew } = renewableGate()

// Beside a turn of a warm agent the person's access is still being asked for.
let scene: Scene
beforeAll(async () => {
  scene = await openScene(
    [
      { when: /Say goodbye/, turns: [{ tools: [bash('echo Goodbye. >> README.md')] }, { text: 'Said.' }] },
      {
        when: /And in (German|French|Danish)/,
        turns: [
          { tools: [bash('echo More. >> README.md')] },
          { text: 'It says more now.', hold: { afterWords: 1, gate } },
        ],
      },
    ],
    { env: { WARM_AGENTS: '0' }, codeHost: 'github' },
  )
})
afterAll(() => scene?.close())
beforeEach(async () => {
  renew()
  await reconnects()
})

/** What ada does on pages of the code host on which she is signed in. */
async function sends(path: string): Promise<void> {
  const { codeHostUrl: origin } = scene.product
  const form = (to: string, body: Record<string, string>, headers: Record<string, string>) =>
    fetch(`${origin}${to}`, {
      method: 'POST',
      body: new URLSearchParams(body),
      headers: { origin, ...headers },
      redirect: 'manual',
    })
  const entered = await form('/login', { login: 'ada' }, {})
  const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';')
  expect((await form(path, {}, { cookie })).status).toBe(303)
}

/** The App at the code host, as the page where people sign in names it. */
async function clientId(): Promise<string> {
  const start = await fetch(`${scene.product.base}/api/auth/github`, { redirect: 'manual' })
  return new URL(start.headers.get('location') ?? '').searchParams.get('client_id') ?? ''
}

const reconnects = async () => {
  scene = { ...scene, ada: await scene.product.signIn('ada') }
}
const isConnected = async () => (await scene.ada.ask(getMe)).user.githubConnected
const byItself = async () => undefined
const asksForUpdate = (taskId: string) =>
  scene.ada.ask(createPullRequest, { params: { taskId } }).then(
    () => true,
    () => false,
  )
const installation = '/settings/installations/1001'
const cases = [
  {
    what: 'the grant, at the code host',
    words: 'And in German',
    takeBack: async () => {
      await sends(`/settings/apps/authorizations/${await clientId()}/revoke`)
      // The code host tells of it, and the settings say so without anybody asking.
      await eventually('the connection has ended', async () => !(await isConnected()))
    },
    giveBack: reconnects,
    goesOn: byItself,
    code: 'github_not_connected',
    says: 'The work is kept. Connect GitHub again in Settings, then try again.',
  },
  {
    what: 'the connection, in the settings',
    words: 'And in French',
    takeBack: async () => void (await scene.ada.ask(disconnectGitHub)),
    giveBack: reconnects,
    goesOn: byItself,
    code: 'github_not_connected',
    says: 'The work is kept. Connect GitHub again in Settings, then try again.',
  },
  {
    what: 'the installation, by a suspension',
    words: 'And in Danish',
    takeBack: async () => sends(`${installation}/suspend`),
    giveBack: async () => sends(`${installation}/unsuspend`),
    // It comes back by a delivery.
    goesOn: (taskId: string) => eventually('the work is published', () => asksForUpdate(taskId)),
    code: 'no_push_access',
    says: "Flightdeck's App is suspended for ada, so nothing reaches ada/engine. The work is kept. Its owner can end that at ",
  },
] as const

test.each(cases)(
  '$what, taken back while the agent works',
  async ({ words, takeBack, giveBack, goesOn, code, says }) => {
    const { product, api, projectId } = scene
    const { id } = await scene.ada.task(projectId, `Say goodbye. ${words} later.`)
    const asked = { params: { taskId: id } }
    const { workingBranch } = await scene.ada.taskOnce(id, hasEnded)
    await scene.ada.ask(createPullRequest, { ...asked, body: { autoUpdate: true } })
    const bare = await bareRepository(product.dataDir)
    const pushed = () => gitDone(bare, ['rev-list', '--count', `main..${workingBranch}`])
    expect(await pushed()).toBe('1')

    await scene.ada.ask(sendMessage, { ...asked, body: { message: words } })
    await gate.reached
    await takeBack()
    gate.release()
    const ended = await scene.ada.taskOnce(id, (task) => hasEnded(task) && !task.pullRequestPending)
    expect(ended).toMatchObject({ status: 'completed', execution: { turn: 2 }, publishingFault: code })
    const { data: diff } = await scene.ada.ask(getTaskDiff, asked)
    expect(JSON.stringify(diff)).toContain('+More.')
    const told = async () =>
      (await scene.ada.ask(getChat, asked)).messages.filter(({ message }) => message?.includes(says)).length
    await expect.poll(told).toBe(1)
    const refused = await scene.ada.refused(createPullRequest, asked)
    expect(refused).toMatchObject({ status: 403, code })
    expect(refused.error).toContain(says)
    expect(await told()).toBe(2)
    expect(await pushed()).toBe('1')

    const asksOfModel = api.requests.length
    await giveBack()
    await goesOn(id)
    await expect.poll(pushed).toBe('2')
    expect(await scene.ada.taskOnce(id, (task) => !task.pullRequestPending)).toMatchObject({
      prNumber: ended.prNumber,
    })
    expect(await gitDone(bare, ['show', `${workingBranch}:README.md`])).toMatch(/Goodbye\.\nMore\.$/)
    await scene.ada.ask(createPullRequest, asked)
    expect(await pushed()).toBe('2')
    // No agent was started for it.
    expect(api.requests.length).toBe(asksOfModel)
  },
)
