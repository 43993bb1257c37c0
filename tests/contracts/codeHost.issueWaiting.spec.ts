/** Issues of the local code host that have to wait: accepted ones for capacity, others for a rate limit, an account or a sign-in. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { issueLimits } from '#domain/project/issueRule.ts'
import { projectDecider, type ProjectCommand } from '#domain/project/project.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import { projected } from '#platform/reads/projectionWait.ts'
import { memories } from '../../services/github/issues/memory.ts'
import { round } from '../../services/github/issues/readingRound.ts'
import { projectId, userId } from '../domain/ids.ts'
import { cause } from '../server/engines.ts'
import { byPolling, eventually, never, issueTasks } from './codeHost.issueTasks.fixture.ts'
import { isLongRun } from '../longRun.ts'

const here = issueTasks()
const {
  asks,
  rule,
  isHere,
  adapter,
  makingOf,
  start,
  stopped,
  issueBy,
  label,
  unlabel,
  say,
  numbers,
  decisions,
  startFull,
  unread,
} = here

test('a closed issue, and one that is closed before its task is made, become none', async () => {
  const closed = await issueBy('ada')
  await label('ada', closed)
  await asks('ada', 'PATCH', `/issues/${closed}`, { state: 'closed' })
  const full = vi.fn<() => Promise<void>>(async () => {
    throw new Fault('too_many_tasks')
  })
  const number = await issueBy('ada')
  await label('ada', number)
  await start({ ...byPolling, admit: full })
  await eventually(async () => expect(await decisions()).toEqual([`${number} waiting`]))
  await eventually(async () => expect(full.mock.calls.length).toBeGreaterThan(1))
  await asks('ada', 'PATCH', `/issues/${number}`, { state: 'closed' })
  await eventually(async () => expect(await decisions()).toEqual([`${number} closed`]))
  expect(await numbers()).toEqual([])
})

test('an issue that waits becomes no task once who asked for it may not write any more', async () => {
  const number = await issueBy('mallory')
  await label('grace', number)
  const makeRoom = await startFull()
  await eventually(async () => expect(await decisions()).toEqual([`${number} waiting`]))
  await asks('ada', 'PUT', '/collaborators/grace', { permission: 'pull' })
  await eventually(async () => expect(await decisions()).toEqual([`${number} not_permitted`]))
  makeRoom()
  expect(await numbers()).toEqual([])
})

test('an issue that waits becomes no task once the label by which it was asked for is taken off', async () => {
  const number = await issueBy('mallory')
  await label('grace', number)
  const makeRoom = await startFull()
  await eventually(async () => expect(await decisions()).toEqual([`${number} waiting`]))
  await unlabel('grace', number)
  await eventually(async () => expect(await decisions()).toEqual([`${number} unlabelled`]))
  makeRoom()
  expect(await numbers()).toEqual([])
})

test('issues that wait for room cost no requests in most rounds, and become tasks once there is some', async () => {
  const waiting = [await issueBy('ada'), await issueBy('ada'), await issueBy('ada'), await issueBy('ada')]
  for (const number of waiting) await label('ada', number)
  const issueText = vi.fn<CodeHost['issueText']>(here.local.codeHost.issueText)
  let rounds = 0
  const issues: CodeHost['issues'] = async (...asked) => {
    rounds += 1
    return here.local.codeHost.issues(...asked)
  }
  const makeRoom = await startFull({
    times: { pollIntervalMs: 50, passingMs: never },
    codeHost: { issueText, issues },
  })
  await eventually(async () =>
    expect((await decisions()).toSorted()).toEqual(waiting.map((number) => `${number} waiting`)),
  )
  const further = async () => {
    const before = rounds
    await eventually(async () => expect(rounds).toBeGreaterThan(before + 3))
  }
  await further()
  issueText.mockClear()
  await further()
  expect(issueText).not.toHaveBeenCalled()
  makeRoom()
  await eventually(async () =>
    expect((await decisions()).toSorted()).toEqual(waiting.map((number) => `${number} made`)),
  )
})

// Each needs a code host and engines of its own, so `npm test` leaves these finer points to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('an issue that was moved, so that its number leads to another, waits no longer', async () => {
    await asks('ada', 'PUT', '/collaborators/mallory', { permission: 'push' })
    const [number, other] = [await issueBy('mallory'), await issueBy('ada')]
    await label('mallory', number)
    const issue = vi.fn<CodeHost['issue']>((token, repository) =>
      here.local.codeHost.issue(token, repository, other),
    )
    await start({ ...byPolling, codeHost: { issue } })
    await eventually(async () => expect(await decisions()).toEqual([`${number} withdrawn`]))
  })

  test('an issue that was taken and moved before there was room becomes no task', async () => {
    const [number, other] = [await issueBy('ada'), await issueBy('ada')]
    await label('ada', number)
    await startFull({
      ...byPolling,
      codeHost: { issue: (token, repository) => here.local.codeHost.issue(token, repository, other) },
    })
    await eventually(async () => expect(await decisions()).toEqual([`${number} gone`]))
  })
})

test('an issue that waits is not wanted once the rule is off, also where it is on again', async () => {
  const number = await issueBy('mallory')
  await label('grace', number)
  const makeRoom = await startFull()
  await eventually(async () => expect(await decisions()).toEqual([`${number} waiting`]))
  await rule(1, { on: false })
  await eventually(async () => expect(await decisions()).toEqual([`${number} unwanted`]))
  const second = await issueBy('mallory')
  await rule(1, { on: true })
  await label('grace', second)
  await eventually(async () => expect(await decisions()).toEqual([`${second} waiting`, `${number} unwanted`]))
  await rule(1, { on: false })
  await rule(1, { on: true })
  makeRoom()
  await eventually(async () =>
    expect(await decisions()).toEqual([`${second} unwanted`, `${number} unwanted`]),
  )
  expect(await numbers()).toEqual([])
})

// Each needs a code host and engines of its own, so `npm test` leaves these finer points to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('a change of what else counts drops nothing that was taken by the label, and starts nothing from before', async () => {
    const number = await issueBy('mallory')
    await label('grace', number)
    const listed: (string | null)[] = []
    const issues: CodeHost['issues'] = async (...asked) => {
      listed.push(asked[2].label)
      return here.local.codeHost.issues(...asked)
    }
    const makeRoom = await startFull({ ...byPolling, codeHost: { issues } })
    await eventually(async () => expect(await decisions()).toEqual([`${number} waiting`]))
    await rule(1, { mentions: false, label: 'robot' })
    await eventually(async () => expect(listed).toContain('robot'))
    makeRoom()
    await eventually(async () => expect(await decisions()).toEqual([`${number} made`]))
  })
})

test('an issue that was asked for by somebody without an account here is looked at again once they have one', async () => {
  await asks('ada', 'PUT', '/collaborators/mallory', { permission: 'push' })
  const number = await issueBy('mallory')
  await label('mallory', number)
  await start(byPolling)
  await eventually(async () => expect(await decisions()).toEqual([`${number} not_known`]))
  await isHere('1003', 3, 'mallory')
  await eventually(async () => expect(await decisions()).toEqual([`${number} made`]))
})

// Each needs a code host and engines of its own, so `npm test` leaves these finer points to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('who has to sign in again is named so, and counts once they have; what is closed meanwhile waits no longer', async () => {
    let isSignedOut = true
    const check = async (id: string) => {
      if (isSignedOut && id === userId(2)) throw new Fault('sign_in_required', 'Sign in again.')
    }
    const [number, closed] = [await issueBy('ada'), await issueBy('ada')]
    await label('grace', number)
    await label('grace', closed)
    await start({ ...byPolling, accessControl: { check } })
    await eventually(async () =>
      expect(await decisions()).toEqual([`${closed} sign_in`, `${number} sign_in`]),
    )
    await asks('ada', 'PATCH', `/issues/${closed}`, { state: 'closed' })
    await eventually(async () =>
      expect(await decisions()).toEqual([`${closed} withdrawn`, `${number} sign_in`]),
    )
    isSignedOut = false
    await eventually(async () => expect(await decisions()).toEqual([`${number} made`, `${closed} withdrawn`]))
  })

  test('where as many wait for a limit as may, the next is not lost', async () => {
    const at = new Date().toISOString()
    const who = { author: { id: '1001', login: 'ada' }, right: 'admin', standing: 'known' } as const
    const ask = { trigger: 'label', at, commentId: null, textHash: 'h', ...who } as const
    const judged = { asks: [ask], isCut: false, editedAt: null, ownerMayWrite: true, isElsewhere: false }
    const onProject = (command: ProjectCommand) =>
      here.engines.commands.execute(projectDecider, projectStream(projectId(1)), command, cause())
    const consider = (n: number) => {
      const named = { number: 10_000 + n, title: 'Old', url: 'https://a.example' }
      const issue = { issueId: `x${n}`, nodeId: `I_${n}`, ...named }
      return onProject({ type: 'ConsiderIssue', issue, ...judged, taskId: randomUUID(), now: at })
    }
    for (let n = 0; n < issueLimits.perHour + issueLimits.waiting; n += 1) await consider(n)
    const { state } = await here.engines.commands.load(projectDecider, projectStream(projectId(1)))
    if (state.kind !== 'project') throw new Error('The project is gone.')
    for (const { taskId } of state.issues.taken.values())
      await onProject({ type: 'SettleIssue', taskId, failure: 'closed', reason: null })
    const number = await issueBy('ada')
    await label('ada', number)
    let lateBy = 0
    const listed: string[] = []
    const issueText = vi.fn<CodeHost['issueText']>(here.local.codeHost.issueText)
    const issues: CodeHost['issues'] = async (...asked) => {
      listed.push(asked[2].since)
      return here.local.codeHost.issues(...asked)
    }
    const clock = { now: () => new Date(Date.now() + lateBy) }
    await start({ ...byPolling, clock, codeHost: { issueText, issues } })
    await eventually(async () => expect(listed.length).toBeGreaterThan(2))
    expect(issueText).not.toHaveBeenCalled()
    // An hour later there is room: those that waited are gone from the code host by now.
    lateBy = 3_700_000
    await eventually(async () => expect(await decisions()).toContain(`${number} made`))
  })
})

/** Has the project have as many issues as an hour may have. */
async function fillHour(): Promise<void> {
  const at = new Date().toISOString()
  const who = { author: { id: '1001', login: 'ada' }, right: 'admin', standing: 'known' } as const
  const ask = { trigger: 'label', at, commentId: null, textHash: 'h', ...who } as const
  const judged = { asks: [ask], isCut: false, editedAt: null, ownerMayWrite: true, isElsewhere: false }
  for (let n = 0; n < issueLimits.perHour; n += 1) {
    const taskId = randomUUID()
    const named = { number: 10_000 + n, title: 'Old', url: 'https://a.example' }
    const issue = { issueId: `x${n}`, nodeId: `I_${n}`, ...named }
    const take = { type: 'ConsiderIssue', issue, ...judged, taskId, now: at } as const
    for (const command of [take, { type: 'SettleIssue', taskId, failure: 'closed', reason: null } as const])
      await here.engines.commands.execute(projectDecider, projectStream(projectId(1)), command, cause())
  }
}

test('of issues that wait for an account each has its turn, however many there are', async () => {
  await asks('ada', 'PUT', '/collaborators/mallory', { permission: 'push' })
  const all: number[] = []
  for (let n = 0; n < 8; n += 1) all.push(await issueBy('mallory'))
  for (const number of all) await label('mallory', number)
  const asked = new Set<number>()
  const issue: CodeHost['issue'] = async (token, repository, number) => {
    asked.add(number)
    return here.local.codeHost.issue(token, repository, number)
  }
  // All are due in each round.
  await start({ times: { pollIntervalMs: 50, passingMs: 0 }, codeHost: { issue } })
  await eventually(async () => expect([...asked].toSorted()).toEqual(all.toSorted()))
})

// Each needs a code host and engines of its own, so `npm test` leaves these finer points to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('of issues that wait for room each is looked at in turn, too', async () => {
    const all: number[] = []
    for (let n = 0; n < issueLimits.perHour; n += 1) all.push(await issueBy('ada'))
    for (const number of all) await label('ada', number)
    const asked = new Set<number>()
    const issue: CodeHost['issue'] = async (token, repository, number) => {
      asked.add(number)
      return here.local.codeHost.issue(token, repository, number)
    }
    await startFull({ times: { pollIntervalMs: 50, passingMs: 0 }, codeHost: { issue } })
    await eventually(async () => expect([...asked].toSorted()).toEqual(all.toSorted()))
  })

  test('who cannot be asked about now holds up no other and is no reason to tell, and counts once they can', async () => {
    let isAway = true
    const check = async (id: string) => {
      if (isAway && id === userId(2))
        throw new Fault('code_host_unavailable', 'Your access cannot be checked.')
    }
    const issues = vi.fn<CodeHost['issues']>((...asked) => here.local.codeHost.issues(...asked))
    const [hers, number] = [await issueBy('ada'), await issueBy('ada')]
    await label('grace', hers)
    await label('ada', number)
    await start({ ...byPolling, accessControl: { check }, codeHost: { issues } })
    await eventually(async () => expect(await decisions()).toEqual([`${number} made`]))
    // Five rounds in a row that fail would be told.
    const before = issues.mock.calls.length
    await eventually(async () => expect(issues.mock.calls.length).toBeGreaterThan(before + 8))
    expect(await unread()).toBeNull()
    expect(await decisions()).toEqual([`${number} made`])
    isAway = false
    await eventually(async () => expect(await decisions()).toEqual([`${hers} made`, `${number} made`]))
  })

  test('a taken issue whose asker cannot be asked about now holds up no other', async () => {
    let isAway = false
    const check = async (id: string) => {
      if (isAway && id === userId(2))
        throw new Fault('code_host_unavailable', 'Your access cannot be checked.')
    }
    const hers = await issueBy('ada')
    await label('grace', hers)
    const makeRoom = await startFull({ ...byPolling, accessControl: { check } })
    await eventually(async () => expect(await decisions()).toEqual([`${hers} waiting`]))
    isAway = true
    makeRoom()
    const number = await issueBy('ada')
    await label('ada', number)
    await eventually(async () => expect(await decisions()).toEqual([`${number} made`, `${hers} waiting`]))
    expect(await unread()).toBeNull()
    isAway = false
    await eventually(async () => expect(await decisions()).toEqual([`${number} made`, `${hers} made`]))
  })
})

/** Ten strangers name the App in the last comments of whatever issue is read, once there are any comments and this is called. */
function strangers() {
  let areThere = false
  const issueComments: CodeHost['issueComments'] = async (...asked) => {
    const listed = await adapter('42').issueComments(...asked)
    const last = listed.comments.at(-1)
    if (!areThere || last === undefined) return listed
    const theirs = Array.from({ length: 10 }, (_, n) => ({
      ...last,
      id: `${n}`,
      body: '+1 @deck',
      author: { id: `${9_000 + n}`, login: `stranger${n}`, isBot: false },
    }))
    return { ...listed, comments: [...listed.comments, ...theirs] }
  }
  const come = () => {
    areThere = true
  }
  return { codeHost: { issueComments }, come }
}

test('an issue that waits is not lost where ten strangers mention the App on it', async () => {
  await fillHour()
  const number = await issueBy('mallory')
  await say('grace', number, '@deck please')
  const { codeHost, come } = strangers()
  let lateBy = 0
  const clock = { now: () => new Date(Date.now() + lateBy) }
  await start({ ...byPolling, clock, codeHost })
  await eventually(async () => expect(await decisions()).toContain(`${number} hour`))
  await say('mallory', number, '+1 @deck')
  come()
  // An hour later there is room.
  lateBy = 3_700_000
  await eventually(async () => expect(await decisions()).toContain(`${number} made`))
})

test('an issue that waits for an account is unsure where ten strangers mention the App on it, and waits on', async () => {
  await asks('ada', 'PUT', '/collaborators/mallory', { permission: 'push' })
  const number = await issueBy('ada')
  await say('mallory', number, '@deck please')
  const { codeHost, come } = strangers()
  await start({ ...byPolling, codeHost })
  await eventually(async () => expect(await decisions()).toEqual([`${number} not_known`]))
  come()
  await eventually(async () => expect(await decisions()).toEqual([`${number} unsure`]))
  await isHere('1003', 3, 'mallory')
  await eventually(async () => expect(await decisions()).toEqual([`${number} made`]))
})

// Each needs a code host and engines of its own, so `npm test` leaves these finer points to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('a taken issue whose asker is signed out has its project read again only for what else is there', async () => {
    const hers = await issueBy('ada')
    await label('grace', hers)
    await startFull()
    await eventually(async () => expect(await decisions()).toEqual([`${hers} waiting`]))
    await stopped()
    await asks('ada', 'PUT', '/collaborators/mallory', { permission: 'push' })
    const all: number[] = []
    for (let n = 0; n < 31; n += 1) all.push(await issueBy('mallory'))
    for (const number of all) await label('mallory', number)
    const check = async (id: string) => {
      if (id === userId(2)) throw new Fault('sign_in_required', 'Sign in again.')
    }
    const reads = projected(here.engines)
    here.running.push({ stop: async () => reads.close() })
    const { read } = round(makingOf(reads, { accessControl: { check } }), memories(), {
      isStopped: () => false,
      passingMs: never,
    })
    const ids = { id: projectId(1) }
    expect(await read(ids)).toBe('soon')
    await eventually(async () => expect(await read(ids)).toBe('done'))
    expect((await decisions()).filter((one) => one.endsWith('not_known'))).toHaveLength(issueLimits.decisions)
  })
})
