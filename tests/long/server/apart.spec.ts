/** Services in processes of their own, two of each, on shared engines: the main job, and kill -9 of each of them in the middle of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { uploadImage } from '#domain/api/images.schema.ts'
import { answerQuestion, listQuestions } from '#domain/api/questions.schema.ts'
import { createPullRequest, createTask, executeTask, getTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import {
  nineEvents,
  signInErrors,
  walkTheMainJob,
  walkThePassword,
  walkTheSignInErrors,
} from '../../client/specClient.ts'
import type { ServiceApart } from '../../product/servicesApart.ts'
import type { Live } from '../../product/live.ts'
import { addressOf, type Person } from '../../product/person.ts'
import { forMongo } from '../../servers/sharedEngines.ts'
import { changeSomething, openApartScene, readyTask, type ApartScene } from '../../server/apartScene.ts'
import { counted, counting, linesOf, printedBy, saidBy } from '../../server/countingCommand.ts'
import { eventually } from '../../server/engines.ts'
import { picture } from '../../server/pictures.ts'
import type { Script } from '../../standins/messagesApi.ts'
import { hasEnded, watching } from '../../server/scene.ts'

const mongo = await forMongo()
let scene: ApartScene
const saySomething = { when: /Say something/, turns: [{ text: 'Said.' }] }
const askSomething: Script = {
  when: /Ask something/,
  turns: [
    {
      tools: [
        {
          name: 'AskUserQuestion',
          input: {
            questions: [
              {
                question: 'Which colour?',
                header: 'Colour',
                multiSelect: false,
                options: ['Red', 'Blue'].map((label) => ({ label, description: label })),
              },
            ],
          },
        },
      ],
    },
    { text: 'Painted.' },
  ],
}

describe.skipIf('missing' in mongo)('services apart', () => {
  beforeAll(async () => {
    if ('missing' in mongo) return
    const count = { gateway: 2, query: 2, command: 2 }
    const env = { PASSWORD_SIGN_IN: '1' }
    scene = await openApartScene(mongo.server, [changeSomething, saySomething, askSomething], count, { env })
  })
  afterAll(() => scene?.close())

  /** Waits until what was written is shown, as a client does that was told that reads lag behind. */
  async function shown(person: Person, taskId: string): Promise<void> {
    const params = { taskId }
    await eventually('the task is shown', async () => {
      const { status } = await person.api('GET', addressOf(getTask, params))
      return status === 200
    })
  }

  test('do the main job', async () => {
    const { ada } = scene
    const task = await readyTask(scene)
    const params = { taskId: task.id }
    expect(task).toMatchObject({ status: 'completed' })
    expect(
      (await scene.adaAt(1).ask(getTask, { params, query: { minPosition: task.position } })).task,
    ).toEqual(task)
    const { data } = await ada.ask(getTaskDiff, { params })
    expect(data).toMatchObject({ exists: true, baseBranch: 'main', totalChanges: 1 })
    // Another branch is asked of the runner that has the workspace.
    const other = await ada.ask(getTaskDiff, { params, query: { baseBranch: 'release' } })
    // What is compared with another branch is not what a pull request would be made of.
    expect(other.data).toEqual({ ...data, baseBranch: 'release', tree: null })
    expect(await ada.refused(getTaskDiff, { params, query: { baseBranch: 'nowhere' } })).toMatchObject({
      status: 409,
      code: 'base_not_recorded',
      error: 'The repository has no branch nowhere. The changes were recorded against main.',
    })
    const { pr } = await ada.ask(createPullRequest, { params })
    expect((await ada.ask(getTask, { params })).task).toMatchObject({ prNumber: pr.number })
  })

  test(
    'serve a client that knows nothing but the contract, with all nine events',
    { timeout: 180_000 },
    async () => {
      const { product, ada, projectId } = scene
      expect(await walkTheMainJob(product.baseAt(0), ada.token, projectId)).toEqual(nineEvents)
    },
  )

  test('let such a client register and sign in, and tell it why it was not signed in', async () => {
    expect(await walkThePassword(scene.product.baseAt(0))).toMatchObject({ onboardingCompleted: true })
    expect(await walkTheSignInErrors(scene.product.baseAt(1))).toEqual(signInErrors)
  })

  test('take an image at one gateway, attach it, and show it at another', async () => {
    const { ada, adaAt, projectId, product } = scene
    const bases = [product.baseAt(0), product.baseAt(1)] as const
    const form = new FormData()
    form.set('image', new File([new Uint8Array(await picture('image/png', 60, 40))], 'plan.png'))
    const headers = { authorization: `Bearer ${ada.token}` }
    const answer = await fetch(`${bases[0]}/api/upload/image`, { method: 'POST', headers, body: form })
    const image = uploadImage.answer.parse(await answer.json())
    const body = { description: 'Look', projectId, branch: 'main', images: [image.id] }
    const { task, position } = await adaAt(1).ask(createTask, { body })
    expect(task.images).toMatchObject([{ id: image.id, name: 'plan.png' }])
    const query = position === undefined ? {} : { minPosition: position }
    const read = await ada.ask(getTask, { params: { taskId: task.id }, query })
    for (const url of [image.url, task.images[0]?.url, read.task.images[0]?.url]) {
      const seen = await Promise.all(bases.map(async (base) => (await fetch(`${base}${url}`)).arrayBuffer()))
      expect(seen.map(({ byteLength }) => byteLength)).toEqual([image.size, image.size])
    }
    await ada.taskOnce(task.id, hasEnded)
  })

  test.each<ServiceApart>(['command', 'query', 'gateway'])(
    'kill -9 of a %s process, and its restart: what was printed is there once, and viewers have it all',
    async (service) => {
      const { ada, adaAt, product } = scene
      const task = await readyTask(scene)
      const params = { taskId: task.id }
      const tabs: [Live, Live] = [await watching(ada, task.id), await watching(adaAt(1), task.id)]
      await ada.ask(executeTask, { params, body: { command: counting(0.1) } })
      await tabs[1].until('some lines', () => printedBy(tabs[1]).length > 5)

      const [victim] = product.of[service]
      await victim?.kill9()
      await victim?.start()
      await tabs[1].until('the end', ({ name }) => name === 'command_completed')

      const { output } = await ada.ask(getTerminal, { params })
      expect(linesOf(output)).toEqual(counted)
      expect(printedBy(tabs[1])).toEqual(counted)
      // Who lost the connection goes on from what it heard last; who did not has missed nothing.
      if (tabs[0].isConnected()) await tabs[0].until('the end', ({ name }) => name === 'command_completed')
      const again = await ada.socket()
      await again.join(task.id, tabs[0].of('command_output').at(-1)?.position)
      await again.until('the end', ({ name }) => name === 'command_completed')
      expect([...printedBy(tabs[0]), ...printedBy(again)]).toEqual(counted)
      again.close()
      expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
      for (const tab of tabs) tab.close()
    },
  )

  test('a question that is asked over both gateways is answered once, though a command process is killed meanwhile', async () => {
    const { ada, adaAt, projectId, product } = scene
    const { id: taskId } = await ada.task(projectId, 'Ask something')
    const params = { taskId }
    const tabs = [await watching(ada, taskId), await watching(adaAt(1), taskId)]
    for (const tab of tabs) await tab.until('the question', ({ name }) => name === 'question_asked')
    const [question] = (await adaAt(1).ask(listQuestions, { params })).questions
    const asked = { params: { taskId, questionId: question?.id ?? '' } }

    await product.of.command[0]?.kill9()
    await adaAt(1).ask(answerQuestion, { ...asked, body: { answer: 'Blue' } })
    await product.of.command[0]?.start()
    expect(await ada.refused(answerQuestion, { ...asked, body: { answer: 'Red' } })).toMatchObject({
      status: 409,
      code: 'already_answered',
    })
    for (const tab of tabs) await tab.until('the answer', ({ name }) => name === 'question_answered')
    expect(await adaAt(1).taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed', waitingFor: null })
    expect(await saidBy(ada, taskId)).toEqual(['Ask something', 'Painted.'])
    for (const tab of tabs) tab.close()
  })

  test.each([0, 1])('without query process %i the other one projects', async (index) => {
    const { adaAt, projectId, product } = scene
    const victim = product.of.query[index]
    const other = adaAt(1 - index)
    await victim?.kill9()
    const { id } = await other.task(projectId, 'Anything')
    await shown(other, id)
    expect(await other.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
    await victim?.start()
    expect(await adaAt(index).taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  })

  test.each([0, 1])('without command process %i the other one hands out the work', async (index) => {
    const { adaAt, projectId, product } = scene
    const victim = product.of.command[index]
    const other = adaAt(1 - index)
    await victim?.kill9()
    const { id } = await other.task(projectId, 'Anything')
    expect(await other.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
    await victim?.start()
  })

  test('what is accepted while a process is away is done once, however often it is sent', async () => {
    const { ada, adaAt, product, projectId } = scene
    const body = { description: 'Sent again and again', projectId, branch: 'main' } as const
    const headers = { 'idempotency-key': 'a-key-of-this-test' }
    const { task } = await ada.ask(createTask, { body, headers })
    for (const service of ['command', 'query', 'gateway'] as const) {
      await product.of[service][0]?.kill9()
      expect((await adaAt(1).ask(createTask, { body, headers })).task.id).toBe(task.id)
      await product.of[service][0]?.start()
    }
    await ada.taskOnce(task.id, hasEnded)
    expect(await saidBy(ada, task.id)).toEqual(['Sent again and again', 'Done.'])
  })
})
