/** Every kind of command that a client sends with a key, what must be true after it was accepted, and what shows that it was carried out once. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { z } from 'zod'
import { disconnectGitHub, getMe, logout, updateProfile } from '#domain/api/auth.schema.ts'
import {
  editMessage,
  getChat,
  getTerminal,
  reorderQueue,
  sendMessage,
  withdrawMessage,
} from '#domain/api/chat.schema.ts'
import {
  createProject,
  createRepository,
  deleteProject,
  listProjects,
  listRepositories,
  syncProject,
  updateProject,
} from '#domain/api/projects.schema.ts'
import {
  cancelTask,
  createPullRequest,
  createTask,
  deleteTask,
  executeTask,
  getTask,
  listTasks,
  retryTask,
  updateTask,
  type Task,
} from '#domain/api/tasks.schema.ts'
import { type Script, renewableGate } from '../../standins/messagesApi.ts'
import { hasEnded, type Scene } from '../scene.ts'
import { command, type Kind } from './killing.ts'

/** Holds the model before the first word of a run that must not end, because each word is written as it is said. */
const holding = renewableGate()

/** The model's answers: it never ends a message that it is asked to hold, and changes something when it is asked to. */
export const scripts: readonly Script[] = [
  {
    when: /Hold/,
    turns: [{ text: 'I begin, and never end.', hold: { afterWords: 0, gate: holding.gate } }],
  },
  {
    when: /Change/,
    turns: [
      { tools: [{ name: 'Bash', input: { command: 'echo more >> README.md', description: 'Add' } }] },
      { text: 'Changed.' },
    ],
  },
]

/** A new word, by which a text is found that this command wrote. */
const word = () => `w${randomUUID().slice(0, 8)}`

/** How many messages wait in a task for being withdrawn one after the other; at most a hundred may wait. */
const waiting = 90

/** The kind that contains a whole run, which has by far the most steps. */
export const wholeRun = 'make a task, and let it run'

/** The kinds in an order in which they can follow each other; the last one ends a session. */
export function kindsOf(scene: Scene): readonly Kind[] {
  const { ada, projectId, product } = scene

  const named = async (title: string) =>
    (await ada.ask(listTasks, { query: { limit: '1000' } })).tasks.filter((task) => task.title === title)
  const messagesOf = async (taskId: string) =>
    (await ada.ask(getChat, { params: { taskId }, query: { limit: '5000' } })).messages
  const turnsOf = ({ execution }: Task) => execution?.turn ?? 0
  /** The number of turns and commands of the task, once no more is to come. */
  const settled = (taskId: string, turns: number) =>
    ada.taskOnce(taskId, (task) => hasEnded(task) && turnsOf(task) >= turns)

  /** A task that has ended, created once and reused. */
  function lasting(description: string): () => Promise<Task> {
    let taskId: string | undefined
    return async () => {
      taskId ??= (await ada.task(projectId, description)).id
      return ada.taskOnce(taskId, hasEnded)
    }
  }
  const ended = lasting('Change it')

  /** A running task, once the model holds it: until then the task makes writes that would be counted as the command's. */
  async function held(): Promise<string> {
    holding.renew()
    const { id } = await ada.task(projectId, 'Hold')
    await holding.gate.reached
    return id
  }

  /** A command that makes the task run again. It is only killed until it is answered, because the first kind already contains a whole run. */
  async function onceMore(task: Task, ask: ReturnType<typeof command>, check: () => Promise<void>) {
    const turns = turnsOf(task) + 1
    return {
      commands: [ask],
      async check() {
        expect(turnsOf(await settled(task.id, turns))).toBe(turns)
        await check()
      },
    }
  }

  /** Messages that wait in a task that does not run. */
  function queue(length: number): () => Promise<{ taskId: string; messageIds: readonly string[] }> {
    let made: { taskId: string; messageIds: readonly string[] } | undefined
    return async () => {
      if (made) return made
      const task = await ada.task(projectId, 'Hold')
      const params = { taskId: task.id }
      const ids: string[] = []
      for (let n = 0; n < length; n += 1) {
        const { chatMessage } = await ada.ask(sendMessage, { params, body: { message: `Waits ${n}` } })
        ids.push(chatMessage.id)
      }
      await ada.ask(cancelTask, { params })
      await ada.taskOnce(task.id, ({ status }) => status === 'cancelled')
      made = { taskId: task.id, messageIds: ids }
      return made
    }
  }
  const forWithdrawal = queue(waiting)
  const forOrder = queue(3)
  let withdrawn = 0
  let reordered = 0

  const projectOf = async (name: string) =>
    (await ada.ask(listProjects)).projects.filter((project) => project.githubRepoName === name)
  /** The address of the repository `sample`. */
  async function sampleUrl(): Promise<string> {
    const { repositories } = await ada.ask(listRepositories)
    const there = repositories.find(({ name }) => name === 'sample')
    const { html_url: url } = there ?? (await ada.ask(createRepository, { body: { name: 'sample' } })).data
    return url
  }
  /** The project of the repository `sample`. */
  async function sample(): Promise<string> {
    const [there] = await projectOf('sample')
    return there?.id ?? (await ada.ask(createProject, { body: { repoUrl: await sampleUrl() } })).id
  }

  return [
    {
      name: wholeRun,
      async prepare() {
        const title = `Change ${word()}`
        const run = async () => settled((await named(title))[0]?.id ?? '', 1)
        return {
          commands: [command(ada, createTask, { body: { description: title, projectId, branch: 'main' } })],
          follows: run,
          async check() {
            expect(await named(title)).toHaveLength(1)
            const task = await run()
            expect(turnsOf(task)).toBe(1)
            // A run that the product was killed in ends as failed and says so; a run that had not begun is run.
            expect([task.status, task.failure?.code]).toEqual(
              task.status === 'completed' ? ['completed', undefined] : ['failed', 'runner_lost'],
            )
            const said = (await messagesOf(task.id)).filter(({ messageType }) => messageType === 'user')
            expect(said.map(({ message }) => message)).toEqual([title])
          },
        }
      },
    },
    {
      name: 'send a message',
      async prepare() {
        const task = await ended()
        const message = word()
        const ask = command(ada, sendMessage, { params: { taskId: task.id }, body: { message } })
        return onceMore(task, ask, async () => {
          expect((await messagesOf(task.id)).filter((one) => one.message === message)).toHaveLength(1)
        })
      },
    },
    {
      name: 'run a command',
      async prepare() {
        const task = await ended()
        const said = word()
        const params = { taskId: task.id }
        const ask = command(ada, executeTask, { params, body: { command: `echo ${said}` } })
        return onceMore(task, ask, async () => {
          const asked = (await messagesOf(task.id)).filter((one) => one.commandText === `echo ${said}`)
          expect(asked).toHaveLength(1)
          const { output } = await ada.ask(getTerminal, { params, query: { limit: '5000' } })
          const lines = output.flatMap(({ content }) => content.split('\n'))
          // The line is missing if the product was killed before it printed.
          expect(lines.filter((line) => line === said).length).toBeLessThanOrEqual(1)
        })
      },
    },
    {
      name: 'try again',
      async prepare() {
        const task = await ended()
        return onceMore(task, command(ada, retryTask, { params: { taskId: task.id } }), async () => {})
      },
    },
    {
      name: 'cancel',
      async prepare() {
        const taskId = await held()
        return {
          commands: [command(ada, cancelTask, { params: { taskId } })],
          follows: () => ada.taskOnce(taskId, hasEnded),
          // The run may have ended with the product, before the message reached it.
          mayBeRefused: [409],
          async check([answer]) {
            const task = await settled(taskId, 1)
            expect(turnsOf(task)).toBe(1)
            const wasTold = task.status === 'cancelled' || task.execution?.cancelRequested === true
            expect(wasTold).toBe(answer?.status === 200)
          },
        }
      },
    },
    {
      name: 'change a message that waits',
      async prepare() {
        const { taskId, messageIds } = await forOrder()
        const [messageId = ''] = messageIds
        const message = word()
        return {
          commands: [command(ada, editMessage, { params: { taskId, messageId }, body: { message } })],
          async check() {
            const messages = await messagesOf(taskId)
            const own = messages.filter((one) => one.id === messageId || one.message === message)
            expect(own).toMatchObject([{ id: messageId, message, status: 'queued' }])
          },
        }
      },
    },
    {
      name: 'put messages that wait in another order',
      async prepare() {
        const { taskId, messageIds } = await forOrder()
        reordered += 1
        const order = permuted(messageIds, reordered % 6)
        return {
          commands: [command(ada, reorderQueue, { params: { taskId }, body: { messageIds: [...order] } })],
          async check([answer]) {
            const { messages } = reorderQueue.answer.parse(answer?.body)
            expect(messages.map(({ id }) => id)).toEqual(order)
          },
        }
      },
    },
    {
      name: 'withdraw a message that waits',
      async prepare() {
        const { taskId, messageIds } = await forWithdrawal()
        const messageId = messageIds[withdrawn]
        if (messageId === undefined) throw new Error('There are no more messages to withdraw.')
        withdrawn += 1
        const left = messageIds.slice(withdrawn)
        return {
          commands: [command(ada, withdrawMessage, { params: { taskId, messageId } })],
          async check() {
            const waits = (await messagesOf(taskId)).filter(({ status }) => status === 'queued')
            expect(waits.map(({ id }) => id)).toEqual(left)
          },
        }
      },
    },
    {
      name: 'change a task',
      async prepare() {
        const { id: taskId, version } = await ended()
        const params = { taskId }
        const title = word()
        return {
          commands: [command(ada, updateTask, { params, body: { title } })],
          async check() {
            const { task } = await ada.ask(getTask, { params })
            // The task has one more event than before.
            expect(task).toMatchObject({ title, version: version + 1 })
          },
        }
      },
    },
    {
      name: 'delete a task that runs',
      async prepare() {
        const params = { taskId: await held() }
        return {
          commands: [command(ada, deleteTask, { params })],
          async check() {
            expect(await ada.refused(getTask, { params })).toMatchObject({ status: 404 })
            expect(await ada.refused(deleteTask, { params })).toMatchObject({ status: 404 })
          },
        }
      },
    },
    {
      name: 'ask for a pull request',
      async prepare() {
        const title = `Change ${word()}`
        const { id: taskId } = await ada.task(projectId, title)
        const { workingBranch } = await ada.taskOnce(taskId, ({ status }) => status === 'completed')
        const params = { taskId }
        return {
          commands: [command(ada, createPullRequest, { params })],
          async check([answer]) {
            const { pr } = createPullRequest.answer.parse(answer?.body)
            const atHost = (await pullRequestsAt(product.codeHostUrl)).filter(
              ({ head }) => head.ref === workingBranch,
            )
            expect(atHost).toMatchObject([{ number: pr.number, title }])
            expect(await ada.ask(getTask, { params })).toMatchObject({
              task: { prNumber: pr.number, prUrl: pr.html_url, pullRequestPending: false },
            })
            const told = (await messagesOf(taskId)).filter(({ message }) => message?.includes(pr.html_url))
            expect(told).toHaveLength(1)
          },
        }
      },
    },
    {
      name: 'make a project',
      async prepare() {
        for (const { id } of await projectOf('sample'))
          await ada.ask(deleteProject, { params: { projectId: id } })
        const repoUrl = await sampleUrl()
        return {
          commands: [command(ada, createProject, { body: { repoUrl } })],
          check: async () => expect(await projectOf('sample')).toHaveLength(1),
        }
      },
    },
    {
      name: 'change a project',
      async prepare() {
        const name = word()
        const params = { projectId: await sample() }
        return {
          commands: [command(ada, updateProject, { params, body: { name } })],
          check: async () => expect(await projectOf('sample')).toMatchObject([{ name }]),
        }
      },
    },
    {
      name: 'ask the code host about a project again',
      async prepare() {
        const params = { projectId: await sample() }
        const [before] = await projectOf('sample')
        return {
          commands: [command(ada, syncProject, { params })],
          async check() {
            const [after, ...more] = await projectOf('sample')
            expect(more).toEqual([])
            expect(Date.parse(after?.lastSync ?? '')).toBeGreaterThan(Date.parse(before?.lastSync ?? ''))
          },
        }
      },
    },
    {
      name: 'delete a project',
      async prepare() {
        const params = { projectId: await sample() }
        return {
          commands: [command(ada, deleteProject, { params })],
          check: async () => expect(await projectOf('sample')).toEqual([]),
        }
      },
    },
    {
      name: 'make a repository',
      async prepare() {
        const name = word()
        return {
          commands: [command(ada, createRepository, { body: { name } })],
          async check() {
            const { repositories } = await ada.ask(listRepositories)
            expect(repositories.filter((one) => one.name === name)).toHaveLength(1)
          },
        }
      },
    },
    {
      name: 'change the profile',
      async prepare() {
        const fullName = `Ada ${word()}`
        return {
          commands: [command(ada, updateProfile, { body: { fullName } })],
          check: async () => expect(await ada.ask(getMe)).toMatchObject({ user: { fullName } }),
        }
      },
    },
    {
      name: 'disconnect from the code host',
      async prepare() {
        // Signing in connects the account again.
        const person = await product.signIn('ada')
        return {
          commands: [command(person, disconnectGitHub)],
          check: async () => expect(await ada.ask(getMe)).toMatchObject({ user: { githubConnected: false } }),
        }
      },
    },
    {
      name: 'sign out',
      async prepare() {
        const person = await product.signIn('ada')
        return {
          commands: [command(person, logout)],
          // After signing out, a person may not even ask whether they are signed out.
          doneAnswers: 401,
          async check() {
            expect(await person.refused(getMe)).toMatchObject({ status: 401 })
            expect((await ada.ask(getMe)).user.githubUsername).toBe('ada')
          },
        }
      },
    },
  ]
}

const PullRequests = z.array(
  z.object({ number: z.number(), title: z.string(), head: z.object({ ref: z.string() }) }),
)

/** All pull requests of ada's repository, newest first, from the code host's public API. */
async function pullRequestsAt(codeHostUrl: string) {
  const answer = await fetch(`${codeHostUrl}/api/v3/repos/ada/engine/pulls?state=all&per_page=100`)
  return PullRequests.parse(await answer.json())
}

/** One of the orders of three or more things. */
function permuted<T>(things: readonly T[], number: number): readonly T[] {
  if (things.length < 2) return things
  const index = number % things.length
  const rest = things.filter((_, at) => at !== index)
  return [...things.slice(index, index + 1), ...permuted(rest, Math.floor(number / things.length))]
}
