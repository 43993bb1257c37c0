// @vitest-environment jsdom
import { fireEvent, screen, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { ada, agentStates } from '../../../../tests/client/samples.ts'
import { refusal } from '../../../../tests/client/server.ts'

describe('the profile', () => {
  test.each([
    ['changed says so', { user: { ...ada, fullName: 'Ada King' } }, ['Profile updated successfully']],
    [
      'refused says why',
      () => refusal(400, 'Enter an e-mail address.'),
      ['Failed to update profile', 'Enter an e-mail address.'],
    ],
    [
      'refused without a reason says that it failed',
      () => refusal(500),
      ['Failed to update profile', 'Profile update failed'],
    ],
  ])('%s', async (_, answer, said) => {
    const server = openPage('/settings', { answers: { 'PUT /auth/profile': answer } })
    fireEvent.change(await screen.findByRole('textbox', { name: 'Full Name' }), {
      target: { value: 'Ada King' },
    })
    fireEvent.click(screen.getByRole('button', { name: 'Update Profile' }))
    for (const text of said) expect(await screen.findByText(text)).toBeTruthy()
    expect(server.of('PUT /auth/profile')[0]?.body).toEqual({
      fullName: 'Ada King',
      email: 'ada@example.com',
    })
  })
})

test('the agents are told of: which can run, what the others are missing, and whose key enters its box', async () => {
  openPage('/settings', { answers: { 'GET /agents': { agents: agentStates } } })
  const agents = within(await screen.findByRole('region', { name: 'Agents' }))
  for (const text of ['2.1.329', 'ready', 'It is not installed.', /^Its key enters the box/])
    expect(agents.getAllByText(text)).toHaveLength(1)
})

describe('the account at the code host', () => {
  const host = {
    'GET /github/user': {
      user: { login: 'ada', public_repos: 3 },
      appUrls: { install: 'https://code.example/i', manage: 'https://code.example/m' },
    },
    'GET /github/orgs': { organizations: [] },
  }

  test('is told of: what it reaches, and who must approve what', async () => {
    openPage('/settings?tab=github', { answers: host })
    expect(await screen.findByText('@ada')).toBeTruthy()
    expect(await screen.findByText('Organization owners must approve the installation.')).toBeTruthy()
  })

  test('that cannot be read is told of', async () => {
    openPage('/settings?tab=github', { answers: { ...host, 'GET /github/user': () => refusal(502) } })
    expect((await screen.findAllByText('Failed to fetch GitHub data')).length).toBeGreaterThan(0)
  })

  test.each([
    [
      'disconnected says so',
      { success: true, user: { ...ada, githubConnected: false } },
      ['GitHub account disconnected successfully'],
    ],
    [
      'that could not be disconnected says so',
      () => refusal(502),
      ['Failed to disconnect GitHub account', 'Failed to disconnect GitHub'],
    ],
  ])('%s', async (_, answer, said) => {
    openPage('/settings?tab=github', { answers: { ...host, 'POST /auth/disconnect-github': answer } })
    fireEvent.click(await screen.findByRole('button', { name: 'Disconnect' }))
    const buttons = await screen.findAllByRole('button', { name: 'Disconnect' })
    fireEvent.click(buttons.at(-1) ?? document.body)
    for (const text of said) expect(await screen.findByText(text)).toBeTruthy()
  })
})
