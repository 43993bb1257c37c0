/** Issues become tasks once, for people with the permission, within the limits, and never because of a text that was changed afterwards. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { taskId } from '../../tests/domain/ids.ts'
import {
  asked,
  at,
  consider,
  created,
  on,
  passed,
  ruled,
  taken,
  type Consider,
} from '../../tests/domain/issues.ts'
import { recorded } from '../../tests/domain/recorded.ts'
import { isRefusal } from '../kernel/decider.ts'
import {
  ProjectIssueRuleChanged,
  ProjectIssueSettled,
  ProjectIssuesRead,
  ProjectIssuesUnread,
  type ProjectEvent,
} from './events.ts'
import { issueLimits } from './issueRule.ts'
import { isNoLongerCovered, isWaiting, noIssues, readFrom, type JudgedRequest } from './issues.ts'
import { projectDecider } from './project.ts'
import { fold } from '../../tests/domain/fold.ts'

describe('an issue that was asked for', () => {
  test('is taken, with who asked and with what right', () =>
    given(projectDecider, ruled).when(consider()).then([taken()]))
  test('is taken once, however often it is read', () =>
    given(projectDecider, ruled, taken())
      .when(consider({ taskId: taskId(2) }))
      .thenNothing())
  test('stays taken once its task is settled', () =>
    given(
      projectDecider,
      ruled,
      taken(),
      ProjectIssueSettled.of({ taskId: taskId(1), failure: null }, { reason: null }),
    )
      .when(consider({ taskId: taskId(2) }))
      .thenNothing())
  test('of which no task could be made is taken again where it is asked for anew', () => {
    const failed = ProjectIssueSettled.of({ taskId: taskId(1), failure: 'closed' }, { reason: null })
    const before = { ...asked, at: at(-1) }
    given(projectDecider, ruled, taken(1, before), failed)
      .when(consider({ asks: [before], taskId: taskId(2) }))
      .thenNothing()
    given(projectDecider, ruled, taken(1, before), failed)
      .when(consider({ asks: [before, asked], taskId: taskId(2) }))
      .then([{ ...taken(), data: { ...taken().data, taskId: taskId(2) } }])
  })
  test('is nothing while the rule is off', () => {
    given(projectDecider, created).when(consider()).thenNothing()
    given(
      projectDecider,
      ruled,
      ProjectIssueRuleChanged.of({ on: false, mentions: true }, { label: 'flightdeck' }),
    )
      .when(consider())
      .thenNothing()
  })
  test('was asked for since the rule is on, by a clock that may be a minute behind', () => {
    given(projectDecider, ruled)
      .when(consider({ asks: [{ ...asked, at: at(-59) }] }))
      .then([taken()])
    given(projectDecider, ruled)
      .when(consider({ asks: [{ ...asked, at: at(-61) }] }))
      .thenNothing()
  })
  test('is told of by the one who asked last', () => {
    const later = { ...asked, at: at(15), author: { id: '8', login: 'ada' }, right: 'admin' } as const
    given(projectDecider, ruled)
      .when(consider({ asks: [later, asked] }))
      .then([taken(1, later)])
  })
})

test.each<[what: string, change: Partial<JudgedRequest>, outcome: string]>([
  ['an administrator here', { right: 'admin' }, 'taken'],
  ['somebody who may write here', { right: 'write' }, 'taken'],
  ['somebody who may only read', { right: 'read' }, 'nothing'],
  ['an outsider', { right: 'none' }, 'nothing'],
  ['an outsider without an account', { right: 'none', standing: 'unknown' }, 'nothing'],
  ['an administrator without an account', { right: 'admin', standing: 'unknown' }, 'not_known'],
  ['an administrator who has to sign in again', { right: 'admin', standing: 'signed_out' }, 'sign_in'],
  ['an administrator about whom nobody can be asked now', { right: 'admin', standing: 'unasked' }, 'nothing'],
])('%s: %j', (_what, change, outcome) => {
  const decision = projectDecider.decide(
    consider({ asks: [{ ...asked, ...change }] }),
    stateAfter(projectDecider, ruled),
  )
  const [event] = isRefusal(decision) ? [] : decision
  const said = event?.type === 'ProjectIssuePassed' ? event.data.reason : event ? 'taken' : 'nothing'
  expect(said).toBe(outcome)
})

describe('a text that was changed', () => {
  test.each<[string, Partial<Consider>, 'taken' | 'edited']>([
    ['before it was asked for', { editedAt: at(9) }, 'taken'],
    ['in the same second', { editedAt: at(10) }, 'edited'],
    ['afterwards', { editedAt: at(11) }, 'edited'],
    ['before somebody asked again', { editedAt: at(11), asks: [asked, { ...asked, at: at(12) }] }, 'taken'],
  ])('%s', (_what, change, outcome) => {
    const [last = asked] = (change.asks ?? [asked]).toReversed()
    given(projectDecider, ruled)
      .when(consider(change))
      .then([outcome === 'taken' ? taken(1, last) : passed('edited')])
  })
  test('is told once', () =>
    given(projectDecider, ruled, passed('edited'))
      .when(consider({ editedAt: at(11) }))
      .thenNothing())
  test('is taken once it is asked for again', () =>
    given(projectDecider, ruled, passed('edited')).when(consider()).then([taken()]))
})

test('an issue of a repository that another project takes is told to be there', () =>
  given(projectDecider, ruled)
    .when(consider({ isElsewhere: true }))
    .then([passed('elsewhere')]))

test('an issue of a project whose owner may not write is told so, whatever else there is', () =>
  given(projectDecider, ruled)
    .when(consider({ ownerMayWrite: false, isElsewhere: true, editedAt: at(11) }))
    .then([passed('owner')]))

describe('who asks and cannot be asked about now', () => {
  const unasked: JudgedRequest = {
    ...asked,
    at: at(15),
    author: { id: '8', login: 'ada' },
    standing: 'unasked',
  }
  test('keeps nothing from others who ask', () =>
    given(projectDecider, ruled)
      .when(consider({ asks: [asked, unasked] }))
      .then([taken()]))
  test('may be why it counts: nothing is said of what others are missing', () =>
    given(projectDecider, ruled)
      .when(consider({ asks: [{ ...asked, standing: 'unknown' }, unasked] }))
      .thenNothing())
  test('lets it wait for a limit, and go on waiting', () => {
    const full = Array.from({ length: issueLimits.perHour }, (_, n) => taken(n + 10))
    given(projectDecider, ruled, ...full)
      .when(consider({ asks: [asked, unasked] }))
      .then([passed('hour')])
    given(projectDecider, ruled, passed('hour'))
      .when(consider({ asks: [unasked] }))
      .thenNothing()
  })
})

describe('where not all was read', () => {
  const read: JudgedRequest = { ...asked, right: 'read', standing: 'unknown' }
  test('it is told that it is not sure, once, where nobody who may was found', () => {
    given(projectDecider, ruled)
      .when(consider({ isCut: true, asks: [read] }))
      .then([passed('unsure')])
    given(projectDecider, ruled, passed('unsure'))
      .when(consider({ isCut: true, asks: [] }))
      .thenNothing()
  })
  test('whoever was found and may counts', () =>
    given(projectDecider, ruled)
      .when(consider({ isCut: true }))
      .then([taken()]))
})

describe('an issue that waits', () => {
  test.each(['hour', 'not_known', 'sign_in', 'elsewhere', 'owner'] as const)(
    'for %s does so no longer once nobody asks for it',
    (reason) => {
      given(projectDecider, ruled, passed(reason))
        .when(consider({ asks: [] }))
        .then([passed('withdrawn')])
      given(projectDecider, ruled, passed(reason))
        .when({ type: 'WithdrawIssue', issueId: '1' })
        .then([passed('withdrawn')])
    },
  )
  test.each(['edited', 'withdrawn', 'unsure'] as const)('is none that is %s', (reason) =>
    given(projectDecider, ruled, passed(reason)).when({ type: 'WithdrawIssue', issueId: '1' }).thenNothing(),
  )
  test('waits on while it is not sure, and only then', () => {
    const unsure = passed('unsure')
    given(projectDecider, ruled, passed('not_known'), unsure, passed('hour'), unsure)
      .when({ type: 'WithdrawIssue', issueId: '1' })
      .then([passed('withdrawn')])
    given(projectDecider, ruled, passed('not_known'), passed('withdrawn'), unsure)
      .when(consider({ asks: [] }))
      .thenNothing()
    const state = stateAfter(projectDecider, [...ruled, passed('not_known'), unsure, passed('unsure', 2)])
    const issues = state.kind === 'project' ? state.issues : noIssues
    expect(['1', '2'].map((id) => isWaiting(issues, id))).toEqual([true, false])
  })
  test('for a limit is not forgotten, however many there are', () => {
    const many = Array.from({ length: issueLimits.passedOver + 50 }, (_, n) =>
      passed(n < 25 ? 'hour' : 'edited', n),
    )
    const state = stateAfter(projectDecider, [...ruled, ...many])
    const kept = state.kind === 'project' ? [...state.issues.passedOver.values()] : []
    expect(kept.filter(({ reason }) => reason === 'hour')).toHaveLength(25)
    expect(kept.filter(({ reason }) => reason === 'edited')).toHaveLength(issueLimits.passedOver)
  })
  test('for an account is not forgotten for those that wait for nothing, however many there are', () => {
    const many = Array.from({ length: issueLimits.passedOver + 50 }, (_, n) => passed('unsure', n + 3))
    const waiting = [passed('not_known'), passed('not_known', 2), passed('unsure', 2)]
    const state = stateAfter(projectDecider, [...ruled, ...waiting, ...many])
    const kept = state.kind === 'project' ? state.issues.passedOver : new Map()
    expect(['1', '2'].map((id) => kept.has(id))).toEqual([true, true])
    expect(kept.size).toBe(issueLimits.passedOver + 2)
  })
  test('for an account is one of two hundred, the latest', () => {
    const many = Array.from({ length: issueLimits.passedOver + 5 }, (_, n) => passed('not_known', n))
    const state = stateAfter(projectDecider, [...ruled, ...many])
    const kept = state.kind === 'project' ? [...state.issues.passedOver.keys()] : []
    expect(kept).toEqual(many.slice(5).map(({ content }) => content.issueId))
  })
})

describe('since when it counts', () => {
  /** After these events, 100 seconds apart. */
  const issuesAfter = (...events: readonly ProjectEvent[]) => {
    const history = [created, on, ...events].map((event, revision) =>
      recorded(event, { revision, at: at((revision - 1) * 100) }),
    )
    const state = fold(projectDecider, history)
    if (state.kind !== 'project') throw new Error('There is no project.')
    return state.issues
  }
  const changed = (rule: { on?: boolean; mentions?: boolean; label?: string }) => {
    const { on = true, mentions = true, label = 'flightdeck' } = rule
    return ProjectIssueRuleChanged.of({ on, mentions }, { label })
  }
  test('a label counts from when it was chosen, mentions from when they were, and neither moves the other', () => {
    expect(issuesAfter(changed({ mentions: false })).since).toEqual({
      on: at(0),
      label: at(0),
      mentions: at(0),
    })
    expect(issuesAfter(changed({ label: 'robot' })).since).toEqual({
      on: at(0),
      label: at(100),
      mentions: at(0),
    })
    expect(issuesAfter(changed({ label: 'FlightDeck' })).since.label).toBe(at(0))
    expect(issuesAfter(changed({ mentions: false }), changed({})).since).toEqual({
      on: at(0),
      label: at(0),
      mentions: at(200),
    })
    expect(issuesAfter(changed({ on: false }), changed({})).since).toEqual({
      on: at(200),
      label: at(200),
      mentions: at(200),
    })
  })
  test('what a mention asked for is not wanted once mentions are off, also where they count again', () => {
    const byMention = { at: at(50), trigger: 'mention' } as const
    const byLabel = { at: at(50), trigger: 'label' } as const
    const off = changed({ mentions: false })
    expect(isNoLongerCovered(issuesAfter(), byMention)).toBe(false)
    expect(isNoLongerCovered(issuesAfter(changed({ label: 'robot' })), byMention)).toBe(false)
    expect(isNoLongerCovered(issuesAfter(off), byMention)).toBe(true)
    expect(isNoLongerCovered(issuesAfter(off), byLabel)).toBe(false)
    expect(isNoLongerCovered(issuesAfter(off, changed({})), byMention)).toBe(true)
    expect(isNoLongerCovered(issuesAfter(off, changed({})), { ...byMention, at: at(250) })).toBe(false)
    expect(isNoLongerCovered(issuesAfter(off, changed({})), byLabel)).toBe(false)
  })
  test('what was read is read again only as far as the new rule goes', () => {
    const read = ProjectIssuesRead.of({}, { upTo: at(150) })
    expect(readFrom(issuesAfter())).toBe(at(-60))
    expect(readFrom(issuesAfter(read))).toBe(at(150))
    expect(readFrom(issuesAfter(read, changed({ label: 'robot' })))).toBe(at(140))
    expect(readFrom(issuesAfter(read, changed({ on: false }), changed({})))).toBe(at(240))
  })
})

describe('an issue that was taken by a mention and is not wanted, as mentions are off', () => {
  const byMention: JudgedRequest = { ...asked, trigger: 'mention' }
  const unwanted = (n = 1) =>
    ProjectIssueSettled.of({ taskId: taskId(n), failure: 'unwanted' }, { reason: null })
  const before = { ...asked, at: at(-1) }
  const again = { ...taken(), data: { ...taken().data, taskId: taskId(3) } }
  const asks = [before, { ...byMention, at: at(-1) }]
  const consideredAgain = consider({ asks, taskId: taskId(3) })
  test('is taken by the label that was set before', () =>
    given(projectDecider, ruled, taken(1, byMention), unwanted()).when(consideredAgain).then([again]))
  test('is not where the label asked for it and the rule was off', () =>
    given(projectDecider, ruled, taken(), unwanted()).when(consideredAgain).thenNothing())
  test('is not where the rule was off, too', () => {
    const off = ProjectIssueRuleChanged.of({ on: false, mentions: true }, { label: 'flightdeck' })
    const history = [...ruled, taken(1, byMention), off, unwanted(), on]
    const [, ...rest] = history.map((event, revision) => recorded(event, { revision, at: at(revision) }))
    const [first] = history.map((event, revision) => recorded(event, { revision, at: at(0) }))
    const state = fold(projectDecider, first === undefined ? [] : [first, ...rest])
    expect(projectDecider.decide(consideredAgain, state)).toEqual([])
  })
  test('is not by a label of which no task could be made before', () => {
    const failed = ProjectIssueSettled.of({ taskId: taskId(1), failure: 'closed' }, { reason: null })
    const second = { ...taken(1, byMention), data: { ...taken(1, byMention).data, taskId: taskId(2) } }
    given(projectDecider, ruled, taken(), failed, second, unwanted(2)).when(consideredAgain).thenNothing()
  })
})

describe('what was read', () => {
  const day = 86_400
  const read = (seconds: number) => ({ type: 'NoteIssuesRead', upTo: at(seconds) }) as const
  const unread = { type: 'NoteIssuesUnread', code: 'forbidden', reason: 'No.' } as const
  const failed = ProjectIssuesUnread.of({ code: 'forbidden' }, { reason: 'No.' })
  test('is noted once a day, and at once where it could not be read before', () => {
    given(projectDecider, ruled).when(read(1_000)).thenNothing()
    given(projectDecider, ruled)
      .when(read(day))
      .then([ProjectIssuesRead.of({}, { upTo: at(day) })])
    given(projectDecider, ruled, ProjectIssuesRead.of({}, { upTo: at(day) }))
      .when(read(day + 1_000))
      .thenNothing()
    given(projectDecider, ruled, failed)
      .when(read(10))
      .then([ProjectIssuesRead.of({}, { upTo: at(10) })])
  })
  test('and why it could not be is noted once, while the rule is on', () => {
    given(projectDecider, ruled).when(unread).then([failed])
    given(projectDecider, ruled, failed).when(unread).thenNothing()
    given(projectDecider, created).when(unread).thenNothing()
    given(projectDecider, created)
      .when(read(2 * day))
      .thenNothing()
  })
})

describe('limits', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => taken(index + 1))
  test('an hour has so many tasks of issues, and the next waits', () => {
    given(projectDecider, ruled, many(issueLimits.perHour))
      .when(consider({}, 99))
      .then([passed('hour', 99)])
    given(projectDecider, ruled, many(issueLimits.perHour - 1))
      .when(consider({}, 99))
      .then([taken(99)])
    given(projectDecider, ruled, many(issueLimits.perHour), passed('hour', 99))
      .when(consider({ now: at(3_601) }, 99))
      .then([taken(99)])
  })
  test('a day has so many', () =>
    given(projectDecider, ruled, many(issueLimits.perDay))
      .when(consider({ now: at(3_601) }, 99))
      .then([passed('day', 99)]))
})

describe('an issue that was taken', () => {
  const settle = { type: 'SettleIssue', taskId: taskId(1), failure: null, reason: null } as const
  const settled = ProjectIssueSettled.of({ taskId: taskId(1), failure: null }, { reason: null })
  test('is settled once', () => {
    given(projectDecider, ruled, taken()).when(settle).then([settled])
    given(projectDecider, ruled, taken(), settled).when(settle).thenNothing()
  })
  test('is settled where it was taken', () =>
    given(projectDecider, ruled).when(settle).thenRefused('not_found'))
})

test('a rule that is changed in part keeps the rest, and one that is as it was is nothing', () => {
  given(projectDecider, ruled)
    .when({ type: 'ChangeIssueRule', label: 'robot' })
    .then([ProjectIssueRuleChanged.of({ on: true, mentions: true }, { label: 'robot' })])
  given(projectDecider, ruled).when({ type: 'ChangeIssueRule', on: true }).thenNothing()
})

test('whatever is read in whatever order, an issue is taken once, and never for somebody who may not', () => {
  const ask = fc.record({
    ...Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, fc.constant(value)])),
    at: fc.integer({ min: -200, max: 200 }).map(at),
    right: fc.constantFrom('admin', 'write', 'read', 'none'),
    standing: fc.constantFrom('known', 'signed_out', 'unknown'),
  }) as fc.Arbitrary<JudgedRequest>
  const command = fc
    .record({
      n: fc.integer({ min: 1, max: 4 }),
      asks: fc.array(ask, { maxLength: 3 }),
      editedAt: fc.option(fc.integer({ min: 0, max: 200 }).map(at)),
      ownerMayWrite: fc.boolean(),
      isCut: fc.boolean(),
      isElsewhere: fc.boolean(),
    })
    .map(({ n, ...change }) => consider(change, n))
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      const wrong: Consider[] = []
      const past: ProjectEvent[] = [...ruled]
      for (const one of commands) {
        const decision = projectDecider.decide(one, stateAfter(projectDecider, past))
        if (isRefusal(decision)) throw new Error(decision.refused)
        const isTaken = decision.some(({ type }) => type === 'ProjectIssueTaken')
        const isByOneWhoMay = one.asks.some(
          ({ right, standing }) => standing === 'known' && ['admin', 'write'].includes(right),
        )
        if (isTaken && !(isByOneWhoMay && one.ownerMayWrite)) wrong.push(one)
        past.push(...decision)
      }
      expect(wrong).toEqual([])
      const all = past.flatMap((event) => (event.type === 'ProjectIssueTaken' ? [event.content.issueId] : []))
      expect(new Set(all).size).toBe(all.length)
      expect(all.length).toBeLessThanOrEqual(issueLimits.perHour)
    }),
    { numRuns: 50 },
  )
})
