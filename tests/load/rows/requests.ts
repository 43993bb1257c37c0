/**
 * How many requests to GitHub's API a task needs: its start, its push, its pull request, a review with the follow-up and the answer, and a failed
 * check; once with webhooks, and once with polling alone. Also what idle pull requests cost. Counted at the local code host.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { listFeedback } from '#domain/api/feedback.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import { localRepository, signIn } from '../../contracts/codeHost.fixture.ts'
import type { Person } from '../../product/person.ts'
import { startProduct } from '../../product.ts'
import { hasEnded, watching } from '../../server/scene.ts'
import { startMessagesApi } from '../../standins/messagesApi.ts'
import { startCounted, type CountedCodeHost, type Holder, type Spent } from '../countedCodeHost.ts'
import type { Line, Row, Scene } from '../row.ts'

const tasks = 10
const tasksADay = 100
/** The number of requests that GitHub allows an installation or a person per hour, at least. */
const hourly = 5_000
/** How often the product polls by default, in rounds per hour: while somebody looks, and otherwise. */
const roundsAnHour = { viewed: 120, unseen: 12 }
const withinMs = 120_000
const gatherSeconds = 2

type Way = 'webhooks' | 'polling'

export const requests: Row = {
  name: 'requests',
  onlyByName: true,
  remark: `Of ${tasks} tasks, scaled to ${tasksADay} a day. Each figure is of a whole day, the limit beside it of an hour.`,
  async measure(scene) {
    const lines: Line[] = []
    for (const way of ['webhooks', 'polling'] as const) {
      const { ofTasks, idle } = await measured(scene, way)
      console.log(tableOf(way, ofTasks))
      lines.push(...linesOf(way, ofTasks))
      if (idle) lines.push(...idleLines(idle))
    }
    return lines
  },
}

interface Counted {
  readonly ofTasks: readonly Spent[]
  /** The requests for the same pull requests, open and unchanged, by round. */
  readonly idle?: { readonly viewed: readonly Spent[]; readonly unseen: readonly Spent[] }
}

async function measured(scene: Scene, way: Way): Promise<Counted> {
  const repository = join(scene.folder, way, 'engine')
  await localRepository(repository, { 'README.md': '# Engine\n\nIt computes.\n' })
  const counted = await startCounted(
    join(scene.folder, way, 'host'),
    [{ source: repository }],
    way === 'webhooks',
  )
  scene.atEnd(() => counted.close())
  const api = await startMessagesApi([{ turns: [{ tools: [work] }, { text: 'Done.' }] }])
  scene.atEnd(() => api.close())
  const product = await startProduct({
    dataDir: join(scene.folder, way, 'data'),
    model: { messagesApi: api },
    env: {
      ...counted.env,
      // With webhooks, requests that are only caused by polling are counted separately.
      GITHUB_POLL_SECONDS: way === 'webhooks' ? '86400' : '2',
      FEEDBACK_GATHER_SECONDS: String(gatherSeconds),
      REQUESTS_PER_MINUTE: '0',
    },
  })
  scene.atEnd(() => product.stop())
  counted.deliverTo(product.base)
  const person = await product.signIn('ada')
  const projectId = await person.project('engine')
  const feedback = { reviews: 'automatic', checks: 'ask' } as const
  await person.ask(updateProjectSettings, { params: { projectId }, body: { feedback } })
  const reviewer = (await signIn(counted.local.codeHost, 'ada')).accessToken
  const host = atHost(counted, reviewer)
  counted.take()
  for (let n = 0; n < tasks; n += 1) await oneTask(person, host, counted, projectId, n)
  const ofTasks = counted.take()
  return way === 'webhooks' ? { ofTasks } : { ofTasks, idle: await idled(person, counted) }
}

const work = { name: 'Bash', input: { command: 'date +%s%N >> README.md', description: 'Work' } }

type AtHost = (method: string, path: string, body?: unknown) => Promise<unknown>
/** Makes a request to the code host itself, without being counted. */
const atHost =
  ({ local }: CountedCodeHost, token: string): AtHost =>
  async (method, path, body) => {
    const response = await fetch(`${local.api}/repos/ada/engine${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }

async function oneTask(
  person: Person,
  host: AtHost,
  { local }: CountedCodeHost,
  projectId: string,
  n: number,
): Promise<void> {
  const { id: taskId } = await person.task(projectId, `Task ${n}`)
  const params = { taskId }
  const live = await watching(person, taskId)
  await person.taskOnce(taskId, hasEnded)
  const { pr } = await person.ask(createPullRequest, { params, body: {} })
  const read = async () => {
    const found = z.object({ head: z.object({ sha: z.string() }) })
    return found.parse(await host('GET', `/pulls/${pr.number}`)).head.sha
  }
  await host('POST', `/pulls/${pr.number}/reviews`, {
    event: 'COMMENT',
    body: `Review ${n}`,
    comments: [{ path: 'README.md', line: 4, body: 'Make it better.' }],
  })
  await once(person, taskId, ({ kind, answer }) => kind === 'review' && answer === 'answered')
  await local.reportCheck('ada', 'engine', {
    name: 'tests',
    conclusion: 'failure',
    headSha: await read(),
    log: 'not ok\n',
  })
  await once(person, taskId, ({ kind }) => kind === 'check')
  live.close()
}

type Shown = Awaited<ReturnType<typeof listed>>[number]
const listed = async (person: Person, taskId: string) =>
  (await person.ask(listFeedback, { params: { taskId } })).feedback

async function once(person: Person, taskId: string, like: (one: Shown) => boolean): Promise<void> {
  for (const end = Date.now() + withinMs; ;) {
    const found = await listed(person, taskId)
    if (found.some(like)) return
    if (Date.now() > end) throw new Error(`The feedback is not there: ${JSON.stringify(found)}`)
    await pause(100)
  }
}

/**
 * How long pull requests are left alone, in milliseconds: long enough for every kind of round, since rounds take two seconds and only every tenth
 * includes all pull requests.
 */
const roundsMs = 42_000

async function idled(person: Person, counted: CountedCodeHost) {
  // The results of the last task have been read by then.
  await pause(2_000 * 5)
  counted.take()
  await pause(roundsMs)
  const unseen = counted.take()
  const live = await person.socket()
  await pause(2_000)
  counted.take()
  await pause(roundsMs)
  const viewed = counted.take()
  live.close()
  return { unseen, viewed }
}

/** The requests of a round as they were measured, multiplied by the number of rounds per hour with default settings. */
function idleLines({ viewed, unseen }: NonNullable<Counted['idle']>): readonly Line[] {
  console.log(tableOf('polling, nobody looks', unseen), tableOf('polling, somebody looks', viewed))
  const line = (what: string, spent: readonly Spent[], anHour: number): Line => ({
    name: `an hour of ${tasks} open pull requests without webhooks, ${what}: GraphQL`,
    unit: 'requests',
    figure: ofRound(spent) * anHour,
    floor: { name: 'the limit of an hour', figure: hourly },
  })
  return [
    line('nobody looks', unseen, roundsAnHour.unseen),
    line('somebody looks', viewed, roundsAnHour.unseen + roundsAnHour.viewed),
  ]
}

/** Requests at most this many milliseconds apart belong to one round. */
const ofOneRoundMs = 1_500

function ofRound(spent: readonly Spent[]): number {
  const times = spent.filter(({ isGraphql }) => isGraphql).map(({ at }) => at)
  const rounds = times.filter(
    (at, index) => at - (times[index - 1] ?? Number.NEGATIVE_INFINITY) > ofOneRoundMs,
  )
  return times.length / Math.max(1, rounds.length)
}

const limited = (spent: readonly Spent[], holder: Holder, isGraphql: boolean) =>
  spent.filter((one) => one.holder === holder && one.isGraphql === isGraphql && !one.isFree).length

function linesOf(way: Way, spent: readonly Spent[]): readonly Line[] {
  return (['person', 'installation'] as const).flatMap((holder) =>
    [false, true].map((isGraphql) => ({
      name: `a day of ${tasksADay} tasks by ${way}: ${isGraphql ? 'GraphQL' : 'REST'}, ${holder}`,
      unit: 'requests' as const,
      figure: (limited(spent, holder, isGraphql) / tasks) * tasksADay,
      floor: { name: 'the limit of an hour', figure: hourly },
    })),
  )
}

/** The requests of all tasks together, by kind and holder, the most frequent first. */
function tableOf(title: string, spent: readonly Spent[]): string {
  const counts = new Map<string, number>()
  for (const { holder, kind, isFree } of spent) {
    const key = `${holder.padEnd(14)}${kind}${isFree ? ' (304, free)' : ''}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const rows = [...counts].toSorted(([, one], [, other]) => other - one)
  return [
    `\n${title}: ${spent.length} requests`,
    ...rows.map(([key, n]) => `${String(n).padStart(7)}  ${key}`),
  ].join('\n')
}
