/** Whole logs: tasks, a project and a user that exist at the same time. Their events are interleaved, and positions have gaps. */
import * as fc from 'fast-check'
import { isRefusal, type Decider } from '#domain/kernel/decider.ts'
import type { AnyEvent, RecordedOf } from '#domain/kernel/event.ts'
import { projectStream, userStream } from '#domain/kernel/streams.ts'
import { projectDecider, type ProjectCommand } from '#domain/project/project.ts'
import { companySizes, roles } from '#domain/user/events.ts'
import { user, type UserCommand } from '#domain/user/user.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { credentialId, projectId, sessionId, userId } from './ids.ts'
import { recorded } from './recorded.ts'
import { lives, logOf } from './taskLives.ts'
import { fold } from './fold.ts'

/** Texts by people: each is recognizable as one. */
const word = fc.constantFrom('words', 'other words', 'more words')
const maybe = fc.option(word)

const profile = fc.record({
  githubId: fc.constantFrom('42', '43'),
  login: word,
  name: maybe,
  email: maybe,
  avatar: word,
})
const sessionIds = fc.constantFrom(sessionId(1), sessionId(2), sessionId(3))
const credentialIds = fc.constantFrom(credentialId(1), credentialId(2))
const startsAt = fc.constant('2026-01-01T00:00:00.000Z')
const expiresAt = fc.constant('2026-01-08T00:00:00.000Z')
const userCommand: fc.Arbitrary<UserCommand> = fc.oneof(
  fc.record({
    type: fc.constant('Register' as const),
    userId: fc.constant(userId(1)),
    name: word,
    email: word,
    credentialId: credentialIds,
    sessionId: sessionIds,
    startsAt,
    expiresAt,
    client: maybe,
  }),
  fc.record({
    type: fc.constant('SignInWithPassword' as const),
    credentialId: credentialIds,
    sessionId: sessionIds,
    startsAt,
    expiresAt,
    client: maybe,
  }),
  fc.record({
    type: fc.constant('SignInWithGitHub' as const),
    userId: fc.constant(userId(1)),
    profile,
    sessionId: sessionIds,
    startsAt,
    expiresAt,
    client: maybe,
  }),
  fc.record({
    type: fc.constant('ConnectGitHub' as const),
    profile,
    sessionId: sessionIds,
    hasNewTokens: fc.boolean(),
  }),
  fc.record({ type: fc.constant('DisconnectGitHub' as const) }),
  fc.record({ type: fc.constant('SignOut' as const), sessionId: sessionIds }),
  fc.record({ type: fc.constant('SignOutEverywhere' as const) }),
  fc.record({ type: fc.constant('UpdateProfile' as const), name: word, fullName: word, email: maybe }),
  fc.record({
    type: fc.constant('CompleteOnboarding' as const),
    fullName: word,
    email: maybe,
    companySize: fc.constantFrom(...companySizes),
    role: fc.constantFrom(...roles),
  }),
)

const repository = fc.record({
  githubUrl: word,
  githubOwner: word,
  githubRepoName: word,
  defaultBranch: word,
  language: maybe,
})
const projectCommand: fc.Arbitrary<ProjectCommand> = fc.oneof(
  fc.record({
    type: fc.constant('CreateProject' as const),
    projectId: fc.constant(projectId(1)),
    ownerId: fc.constant(userId(1)),
    githubRepoId: fc.constant('7'),
    isPrivate: fc.boolean(),
    name: word,
    description: word,
    repository,
  }),
  fc.record({ type: fc.constant('UpdateProject' as const), name: word }),
  fc.record({ type: fc.constant('RecordSync' as const), isPrivate: fc.boolean(), repository }),
  fc.record({
    type: fc.constant('RecordSyncFailure' as const),
    code: fc.constant('not_found'),
    reason: word,
  }),
  fc.record({
    type: fc.constant('ChangeSettings' as const),
    setupCommand: word,
    variables: fc.array(
      word.map((value) => ({ name: 'B', value })),
      { maxLength: 1 },
    ),
    egress: fc.array(word, { maxLength: 2 }),
    modelFetches: fc.boolean(),
  }),
  fc.record({ type: fc.constant('ChangeDrafts' as const), on: fc.boolean() }),
  fc.record({ type: fc.constant('AllowFilters' as const), filters: fc.array(word, { maxLength: 2 }) }),
  fc.record({
    type: fc.constant('ChooseSubmodules' as const),
    repositories: fc.array(word, { maxLength: 2 }),
  }),
  fc.record({
    type: fc.constant('ChooseServices' as const),
    services: fc.array(
      word.map((command) => ({ name: 'web', command, readyPort: null })),
      { maxLength: 1 },
    ),
  }),
  fc.record({ type: fc.constant('AllowHooks' as const), hash: fc.constantFrom(null, 'a'.repeat(64)) }),
  fc.record({
    type: fc.constant('SetSecret' as const),
    name: fc.constantFrom('B', 'C'),
    forAgent: fc.boolean(),
  }),
  fc.record({ type: fc.constant('RemoveSecret' as const), name: fc.constantFrom('B', 'C') }),
  fc.record({ type: fc.constant('DeleteProject' as const) }),
)

export const userLogs = fc
  .array(userCommand, { maxLength: 20 })
  .map((asked) => lived(user, userStream(userId(1)), asked))

export const projectLogs = fc
  .array(projectCommand, { maxLength: 20 })
  .map((asked) => lived(projectDecider, projectStream(projectId(1)), asked))

/** The events of two tasks, their project and their owner, interleaved in any way that keeps the order within each stream. */
export const logs: fc.Arbitrary<readonly AnyRecorded[]> = fc
  .tuple(lives(1), lives(2), userLogs, projectLogs, fc.infiniteStream(fc.nat(3)))
  .map(([first, second, ofUser, ofProject, turns]) =>
    placed(interleaved([logOf(first), logOf(second), ofUser, ofProject], turns)),
  )

function lived<State, Command, E extends AnyEvent>(
  decider: Decider<State, Command, E>,
  stream: string,
  commands: readonly Command[],
): readonly RecordedOf<E>[] {
  const log: RecordedOf<E>[] = []
  for (const command of commands) {
    const decision = decider.decide(command, fold(decider, log))
    if (isRefusal(decision)) continue
    for (const event of decision) log.push(recorded(event, { stream, revision: log.length }))
  }
  return log
}

function interleaved(streams: readonly (readonly AnyRecorded[])[], turns: Iterator<number>): AnyRecorded[] {
  const rest = streams.map((stream) => [...stream])
  const log: AnyRecorded[] = []
  while (rest.some((stream) => stream.length > 0)) {
    const waiting = rest.filter((stream) => stream.length > 0)
    const event = waiting[(turns.next().value ?? 0) % waiting.length]?.shift()
    if (event) log.push(event)
  }
  return log
}

/** Gives the events positions that increase by more than one, beyond the point at which sorting them as text would be wrong. */
function placed(log: readonly AnyRecorded[]): AnyRecorded[] {
  return log.map((event, index) => Object.assign({}, event, { position: String(7 + index * 3) }))
}
