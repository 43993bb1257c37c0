// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, test, vi } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { userId } from '../../../../tests/domain/ids.ts'
import { openPage, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { messageOf, taskOf } from '../../../../tests/client/samples.ts'
import { refusal } from '../../../../tests/client/server.ts'

const at = `/tasks/${taskOf(1).id}`
const code = 'github_not_connected'
const told = 'The pull request was not opened: Flightdeck can no longer act for you on GitHub.'
const isTold: Partial<Task> = { publishingFault: code }
const turnFailed: Partial<Task> = {
  status: 'failed',
  failure: { code, reason: 'GitHub no longer accepts it.' },
}
const lost = () => refusal(403, 'Connect your GitHub account in Settings first.', code)
const account = { user: { login: 'ada', public_repos: 1 }, appUrls: { install: '', manage: '' } }

async function open(over: Partial<Task>, access: unknown = lost) {
  const task = taskOf(1, over)
  const messages = [messageOf(1, { messageType: 'system', agent: null, message: told })]
  const server = openPage(at, {
    answers: {
      ...openTaskAnswers(task),
      [`GET ${at}/chat`]: { messages, version: 1 },
      'GET /github/user': access,
    },
  })
  await screen.findByText(told)
  return server
}
const button = () => screen.findByRole('button', { name: 'Reconnect GitHub' })
const none = () => expect(screen.queryByRole('button', { name: 'Reconnect GitHub' })).toBeNull()

describe('lost access that the chat tells of', () => {
  test.each([
    ['by a pull request that was not made', isTold],
    ['by a turn that failed', turnFailed],
  ])('%s can be had again from there, and leads back to the task', async (_, over) => {
    const server = await open(over)
    const assign = vi.fn<(address: string) => void>()
    vi.stubGlobal('location', { ...window.location, assign })
    server.answer({ 'POST /auth/github/link': { url: '/api/auth/github?link=once' } })
    fireEvent.click(await button())
    await waitFor(() => expect(assign).toHaveBeenCalledExactlyOnceWith('/api/auth/github?link=once'))
    expect(server.of('POST /auth/github/link')).toMatchObject([{ body: { taskId: taskOf(1).id } }])
    vi.unstubAllGlobals()
  })

  test('is offered no more once it is there again, also while the page stays open', async () => {
    const server = await open(isTold)
    await button()
    server.answer({ 'GET /github/user': account })
    fireEvent(window, new Event('focus'))
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Reconnect GitHub' })).toBeNull())
  })

  test('is not offered where GitHub was only away', async () => {
    const server = await open(isTold, () => refusal(502, 'GitHub does not answer.', 'code_host_unavailable'))
    await waitFor(() => expect(server.of('GET /github/user')).toHaveLength(1))
    none()
  })

  test.each([
    ['to another than the owner', { ...isTold, owner: userId(2) }],
    ['where something else was wrong', { publishingFault: 'no_push_access' }],
    ['where nothing was', {}],
  ])('is not offered %s, and GitHub is not asked', async (_, over) => {
    const server = await open(over)
    await waitFor(() => expect(server.of('GET /auth/me').length).toBeGreaterThan(0))
    none()
    expect(server.of('GET /github/user')).toEqual([])
  })
})
