/** A repeated request to disconnect ends no grant that was given since the first. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AnyCall } from '#domain/api/call.schema.ts'
import { disconnectGitHub } from '#domain/api/auth.schema.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { user, type UserCommand } from '#domain/user/user.ts'
import { usersView } from '#domain/views/users.ts'
import type { CallRequest } from '#platform/http/route.ts'
import { sessionId, userId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import type { CommandServices } from '../services.ts'
import { authRoutes } from './auth.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

test('a repeated request to disconnect leaves a later connection as it is', async () => {
  const { commands, documents } = engines
  const stream = userStream(userId(1))
  const execute = (command: UserCommand) => commands.execute(user, stream, command, cause())
  const profile = { githubId: '42', login: 'ada', name: 'Ada', email: null, avatar: '' }
  await execute({
    type: 'SignInWithGitHub',
    userId: userId(1),
    profile,
    sessionId: sessionId(1),
    startsAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-08T00:00:00.000Z',
    client: null,
  })
  await execute({
    type: 'CompleteOnboarding',
    fullName: 'Ada',
    email: null,
    companySize: 'solo',
    role: 'developer',
  })
  const ended: string[] = []
  const services = {
    commands,
    documents: { ...documents, get: () => documents.now(usersView, stream, userId(1)) },
    projected: { waitFor: async () => true },
    access: { end: async (id: string) => void ended.push(id) },
  } as unknown as CommandServices
  const route = authRoutes.find(({ call }) => call === disconnectGitHub)
  const ask = (commandId: string) => {
    const identity = { userId: userId(1), sessionId: sessionId(1) }
    const request = { call: disconnectGitHub, identity, commandId } as unknown as CallRequest<AnyCall>
    return route?.serve(request, services, async () => ({ again: false }))
  }
  const first = randomUUID()
  expect(await ask(first)).toMatchObject({ success: true, user: { githubConnected: false } })
  await execute({ type: 'ConnectGitHub', profile, sessionId: sessionId(1), hasNewTokens: true })
  expect(await ask(first)).toMatchObject({ success: true, user: { githubConnected: true } })
  expect(ended).toEqual([userId(1)])
  expect(await ask(randomUUID())).toMatchObject({ user: { githubConnected: false } })
  expect(ended).toHaveLength(2)
})
