// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test, vi } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { ada, agentStates, repositoryOf } from '../../../../tests/client/samples.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { json, refusal } from '../../../../tests/client/server.ts'

describe('the profile', () => {
  // Holds screens 2.63, 2.64.
  test('is a form of the name and the address under Personal Information', async () => {
    openPage('/settings')
    expect(await screen.findByRole('heading', { name: 'Personal Information' })).toBeTruthy()
    expect(screen.getByRole('tab', { selected: true }).textContent).toBe('Profile')
    expect(screen.getByRole('textbox', { name: 'Full Name' })).toHaveProperty('value', 'Ada Lovelace')
    const email = screen.getByRole('textbox', { name: 'Email Address' })
    expect(email.getAttribute('type')).toBe('email')
    expect(screen.getByRole('button', { name: 'Update Profile' })).toBeTruthy()
  })

  // Holds contract 8.19b.
  test.each([
    ['changed says so', { user: { ...ada, fullName: 'Ada King' } }, ['Profile updated successfully']],
    [
      'refused says why',
      () => refusal(400, 'Enter a valid email address.'),
      ['Failed to update profile', 'Enter a valid email address.'],
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

describe('instructions and commands', () => {
  const saved = {
    instructions: 'Be short.',
    commands: [{ name: 'tidy', description: 'Tidies', text: 'Tidy $ARGUMENTS.' }],
  }
  const box = (name: string | RegExp) => screen.findByRole('textbox', { name })
  const save = () => fireEvent.click(screen.getByRole('button', { name: 'Save Instructions' }))

  test('are shown, changed, added to and taken away', async () => {
    const server = openPage('/settings', {
      answers: {
        'GET /profile/instructions': saved,
        'PUT /profile/instructions': ({ body }: { readonly body: unknown }) => body,
      },
    })
    expect(await box('Instructions')).toHaveProperty('value', 'Be short.')
    expect(await box('Name')).toHaveProperty('value', 'tidy')
    fireEvent.change(await box('Instructions'), { target: { value: 'Be brief.' } })
    fireEvent.click(screen.getByRole('button', { name: 'Remove /tidy' }))
    fireEvent.click(screen.getByRole('button', { name: 'Add Command' }))
    fireEvent.change(await box('Name'), { target: { value: 'ship' } })
    fireEvent.change(await box(/What the agent is told/), { target: { value: 'Ship it.' } })
    save()
    expect(await screen.findByText('Instructions saved')).toBeTruthy()
    expect(server.of('PUT /profile/instructions')[0]?.body).toEqual({
      instructions: 'Be brief.',
      commands: [{ name: 'ship', description: '', text: 'Ship it.' }],
    })
  })

  test('that are not saved survive a visit of the other tab', async () => {
    const server = openPage('/settings', { answers: { 'GET /profile/instructions': saved } })
    fireEvent.change(await box('Instructions'), { target: { value: 'Be brief.' } })
    fireEvent.click(screen.getByRole('tab', { name: 'GitHub' }))
    expect((await screen.findByRole('tabpanel', { hidden: false })).id).toBe('settings-panel-github')
    fireEvent.click(screen.getByRole('tab', { name: 'Profile' }))
    expect(screen.getByRole('tabpanel', { hidden: false }).id).toBe('settings-panel-profile')
    expect(await box('Instructions')).toHaveProperty('value', 'Be brief.')
    expect(server.of('GET /profile/instructions')).toHaveLength(1)
  })

  test.each(['instructions', 'commands', 'commands.0.text'])(
    'that are refused for their %s read out why',
    async (field) => {
      openPage('/settings', {
        answers: {
          'GET /profile/instructions': saved,
          'PUT /profile/instructions': () => json(400, { error: 'Too long.', code: 'invalid_input', field }),
        },
      })
      await box('Name')
      save()
      const part = within(screen.getByRole('region', { name: 'Instructions and Commands' }))
      expect((await part.findByRole('alert')).textContent).toBe('Too long.')
    },
  )

  test('that are refused say why at the field', async () => {
    openPage('/settings', {
      answers: {
        'GET /profile/instructions': saved,
        'PUT /profile/instructions': () =>
          json(400, {
            error: 'Use only lowercase letters.',
            code: 'invalid_input',
            field: 'commands.0.name',
          }),
      },
    })
    await box('Name')
    save()
    await waitFor(async () => expect((await box('Name')).getAttribute('aria-invalid')).toBe('true'))
  })
})

test('nothing stands below a part that is still being read, where it would move', async () => {
  let answer = (_read: unknown) => {}
  const instructions = new Promise((resolve) => (answer = resolve))
  const server = openPage('/settings', { answers: { 'GET /profile/instructions': () => instructions } })
  await screen.findByRole('textbox', { name: 'Full Name' })
  await waitFor(() => expect(server.of('GET /auth/sessions')).toHaveLength(1))
  await waitFor(() => expect(server.of('GET /profile/mcp-servers')).toHaveLength(1))
  expect(screen.queryByRole('region', { name: 'Sessions', hidden: false })).toBeNull()
  expect(screen.queryByRole('button', { name: 'Delete Account...', hidden: false })).toBeNull()
  answer({ instructions: 'Be short.', commands: [] })
  expect(await screen.findByRole('button', { name: 'Delete Account...', hidden: false })).toBeTruthy()
  expect(screen.getByRole('textbox', { name: 'Instructions' })).toHaveProperty('value', 'Be short.')
})

describe('the account', () => {
  const question = async () => {
    fireEvent.click(await screen.findByRole('button', { name: 'Delete Account...' }))
    return within(await screen.findByRole('dialog', { name: 'Delete your account?' }))
  }

  test('is deleted once its name was typed, and the person is signed out', async () => {
    const server = openPage('/settings', { answers: { 'DELETE /auth/me': { success: true } } })
    const dialog = await question()
    const confirm = dialog.getByRole('button', { name: 'Delete Account' })
    expect(confirm).toHaveProperty('disabled', true)
    fireEvent.change(dialog.getByRole('textbox', { name: 'Type "ada" to confirm' }), {
      target: { value: 'ada' },
    })
    fireEvent.click(confirm)
    await waitFor(() => expect(localStorage.getItem(tokenKey)).toBeNull())
    expect(server.of('DELETE /auth/me')).toHaveLength(1)
  })

  test('that could not be deleted stays, and says why', async () => {
    openPage('/settings', { answers: { 'DELETE /auth/me': () => refusal(500) } })
    const dialog = await question()
    fireEvent.change(dialog.getByRole('textbox', { name: 'Type "ada" to confirm' }), {
      target: { value: 'ada' },
    })
    fireEvent.click(dialog.getByRole('button', { name: 'Delete Account' }))
    expect((await dialog.findByRole('alert')).textContent).toBe('Failed to delete account')
    // The page behind an open dialog is out of reach.
    expect(screen.getAllByText('Failed to delete account')).toHaveLength(1)
    fireEvent.click(dialog.getByRole('button', { name: 'Cancel' }))
    await question()
    expect(dialog.queryByRole('alert')).toBeNull()
  })
})

describe('the sessions', () => {
  const here = {
    id: '00000000-0000-4000-8000-000000000001',
    startedAt: new Date(Date.now() - 3 * 86_400_000).toISOString(),
    expiresAt: new Date(Date.now() + 4 * 86_400_000).toISOString(),
    client: 'Firefox on Linux',
    current: true,
  }
  const elsewhere = {
    ...here,
    id: '00000000-0000-4000-8000-000000000002',
    client: 'Safari on iOS',
    current: false,
  }
  const answers = { 'GET /auth/sessions': { sessions: [elsewhere, here] } }
  const everywhere = async () => {
    fireEvent.click(await screen.findByRole('button', { name: 'Sign Out Everywhere' }))
    return within(await screen.findByRole('dialog', { name: 'Sign out everywhere?' }))
  }

  test('are told of, and any but this one is ended by itself', async () => {
    const path = `DELETE /auth/sessions/${elsewhere.id}`
    const server = openPage('/settings', { answers: { ...answers, [path]: { success: true } } })
    const panel = within(await screen.findByRole('region', { name: 'Sessions' }))
    expect(await panel.findByText('This browser · Signed in 3d ago')).toBeTruthy()
    expect(panel.queryByRole('button', { name: 'Sign Out: Firefox on Linux' })).toBeNull()
    fireEvent.click(panel.getByRole('button', { name: 'Sign Out: Safari on iOS' }))
    await waitFor(() => expect(server.of(path)).toHaveLength(1))
    // The remaining sessions are read again.
    await waitFor(() => expect(server.of('GET /auth/sessions')).toHaveLength(2))
  })

  test('are all ended at once, with this one', async () => {
    const server = openPage('/settings', {
      answers: { ...answers, 'DELETE /auth/sessions': { success: true } },
    })
    const dialog = await everywhere()
    expect(dialog.getByText(/^This ends all 2 sessions, including this one/)).toBeTruthy()
    fireEvent.click(dialog.getByRole('button', { name: 'Sign Out Everywhere' }))
    await waitFor(() => expect(localStorage.getItem(tokenKey)).toBeNull())
    expect(server.of('DELETE /auth/sessions')).toHaveLength(1)
  })

  test('that could not be ended stay, and say why', async () => {
    openPage('/settings', { answers: { ...answers, 'DELETE /auth/sessions': () => refusal(500) } })
    const dialog = await everywhere()
    fireEvent.click(dialog.getByRole('button', { name: 'Sign Out Everywhere' }))
    expect((await dialog.findByRole('alert')).textContent).toBe("Couldn't sign out")
    expect(screen.getAllByText("Couldn't sign out")).toHaveLength(1)
    expect(localStorage.getItem(tokenKey)).not.toBeNull()
  })

  test('that could not be read are asked for again', async () => {
    let isAway = true
    const server = openPage('/settings', {
      answers: { 'GET /auth/sessions': () => (isAway ? refusal(503) : answers['GET /auth/sessions']) },
    })
    const panel = within(await screen.findByRole('region', { name: 'Sessions', hidden: false }))
    expect(server.of('GET /auth/sessions')).toHaveLength(1)
    expect(await panel.findByText("Couldn't load your sessions.")).toBeTruthy()
    isAway = false
    fireEvent.click(panel.getByRole('button', { name: 'Try Again' }))
    expect(await panel.findByText('Firefox on Linux')).toBeTruthy()
  })
})

test('the agents are told of: which can run, what the others are missing, and whose key enters its sandbox', async () => {
  openPage('/settings', { answers: { 'GET /agents': { agents: agentStates } } })
  const agents = within(await screen.findByRole('region', { name: 'Agents' }))
  for (const text of ['2.1.329', 'Ready', 'It is not installed.', /^Its API key is passed into the sandbox/])
    expect(agents.getAllByText(text)).toHaveLength(1)
})

describe('own keys', () => {
  const stored = {
    provider: 'anthropic',
    kind: 'api_key',
    ending: '0001',
    checked: true,
    setAt: new Date().toISOString(),
  }
  const open = async (keys: readonly object[], more: Readonly<Record<string, unknown>> = {}) => {
    const server = openPage('/settings', { answers: { 'GET /profile/agent-keys': { keys }, ...more } })
    const slot = within(await screen.findByRole('group', { name: 'Anthropic (Claude)' }))
    return { server, slot }
  }
  const enter = async (slot: Awaited<ReturnType<typeof open>>['slot'], label: string, value: string) => {
    fireEvent.click(slot.getByRole('button', { name: /^(Add Key|Replace): / }))
    const field = slot.getByLabelText(label)
    expect(field.getAttribute('type')).toBe('password')
    fireEvent.change(field, { target: { value } })
    fireEvent.click(slot.getByRole('button', { name: 'Save Key' }))
  }

  test('that are none are said to be, with what is used instead and what cannot be', async () => {
    const { slot } = await open([])
    expect(slot.getByText("No key of your own: the project's or the server's is used.")).toBeTruthy()
    expect(screen.getByText(/^A ChatGPT plan cannot be used/)).toBeTruthy()
    expect(slot.queryByRole('button', { name: /^Remove/ })).toBeNull()
  })

  test('one has the focus while it is entered, and gives it back', async () => {
    const { slot } = await open([])
    const add = () => slot.getByRole('button', { name: 'Add Key: Anthropic (Claude)' })
    fireEvent.click(add())
    expect(document.activeElement).toBe(slot.getByLabelText('API key'))
    fireEvent.click(slot.getByRole('button', { name: 'Cancel' }))
    expect(document.activeElement).toBe(add())
  })

  test('one is checked while it is saved, and then shown by its end alone', async () => {
    let answer = (_keys: unknown) => {}
    const answered = new Promise((resolve) => (answer = resolve))
    const { server, slot } = await open([], { 'PUT /profile/agent-keys': () => answered })
    await enter(slot, 'API key', ' sk-ant-api03-of-ada-0001 ')
    expect(await slot.findByText('Checking...')).toBeTruthy()
    server.answer({ 'GET /profile/agent-keys': { keys: [stored] } })
    answer({ keys: [stored] })
    expect(await slot.findByText(/^Key ending in 0001/)).toBeTruthy()
    expect(slot.getByText('Accepted when it was entered')).toBeTruthy()
    expect(server.of('PUT /profile/agent-keys')[0]?.body).toEqual({
      provider: 'anthropic',
      kind: 'api_key',
      value: 'sk-ant-api03-of-ada-0001',
    })
    expect(document.body.textContent).not.toContain('sk-ant-api03-of-ada')
  })

  test('one that is refused says why, and stays to be mended', async () => {
    const why = 'Anthropic refused this key, so it was not stored.'
    const { slot } = await open([], { 'PUT /profile/agent-keys': () => refusal(422, why, 'key_refused') })
    await enter(slot, 'API key', 'sk-ant-api03-wrong')
    expect(await slot.findByText(why)).toBeTruthy()
    expect(slot.getByLabelText('API key')).toHaveProperty('value', 'sk-ant-api03-wrong')
  })

  test('one that could not be checked says so', async () => {
    const { slot } = await open([{ ...stored, checked: false, ending: '' }])
    expect(slot.getByText(/^Key stored/)).toBeTruthy()
    expect(slot.getByText(/^Not checked: the provider gave no answer/)).toBeTruthy()
  })

  test('the token of a subscription is sent as one', async () => {
    const { server, slot } = await open([], { 'PUT /profile/agent-keys': { keys: [stored] } })
    fireEvent.click(slot.getByRole('button', { name: 'Add Key: Anthropic (Claude)' }))
    fireEvent.click(slot.getByRole('button', { name: 'Subscription' }))
    expect(slot.getByText(/^Run claude setup-token on your machine/)).toBeTruthy()
    fireEvent.change(slot.getByLabelText('Subscription token'), { target: { value: 'sk-ant-oat01-plan' } })
    fireEvent.click(slot.getByRole('button', { name: 'Save Key' }))
    await waitFor(() => expect(server.of('PUT /profile/agent-keys')).toHaveLength(1))
    expect(server.of('PUT /profile/agent-keys')[0]?.body).toMatchObject({ kind: 'subscription' })
  })

  test('one is removed once that was confirmed', async () => {
    const { server, slot } = await open([stored], { 'PUT /profile/agent-keys': { keys: [] } })
    fireEvent.click(slot.getByRole('button', { name: 'Remove: Anthropic (Claude)' }))
    const dialog = within(
      await screen.findByRole('dialog', { name: 'Remove the key for Anthropic (Claude)?' }),
    )
    expect(server.of('PUT /profile/agent-keys')).toEqual([])
    server.answer({ 'GET /profile/agent-keys': { keys: [] } })
    fireEvent.click(dialog.getByRole('button', { name: 'Remove' }))
    expect(await screen.findByText('Key removed')).toBeTruthy()
    expect(server.of('PUT /profile/agent-keys')[0]?.body).toMatchObject({
      provider: 'anthropic',
      value: null,
    })
  })

  test('that cannot be read say so, and are read again', async () => {
    const server = openPage('/settings', { answers: { 'GET /profile/agent-keys': () => refusal(500) } })
    const part = within(await screen.findByRole('region', { name: 'Your Own Keys', hidden: false }))
    expect(server.of('GET /profile/agent-keys')).toHaveLength(1)
    expect(await part.findByText('Failed to fetch your keys')).toBeTruthy()
    server.answer({ 'GET /profile/agent-keys': { keys: [stored] } })
    fireEvent.click(part.getByRole('button'))
    expect(await part.findByText(/^Key ending in 0001/)).toBeTruthy()
  })
})

const installed = {
  id: '7',
  account: 'acme',
  isOrganization: true,
  repositories: 'all',
  count: 12,
  selected: null,
  isCut: false,
  isSuspended: false,
  missing: [],
  url: 'https://code.example/7',
}
/** What the App reaches; nothing is known about the App unless the test says so. */
const withApp = (more: object = {}) => ({
  app: { name: 'Flightdeck', installUrl: 'https://code.example/i', manageUrl: 'https://code.example/m' },
  installations: null,
  more: 0,
  requests: [],
  ...more,
})

describe('the account at the code host', () => {
  const host = {
    'GET /github/user': {
      user: { login: 'ada', public_repos: 3 },
      appUrls: { install: 'https://code.example/i', manage: 'https://code.example/m' },
    },
    'GET /github/orgs': { organizations: [] },
    'GET /github/access': withApp(),
  }

  // Holds screens 2.65.
  test('that is not connected is connected at the code host', async () => {
    const server = openPage('/settings?tab=github', {
      answers: { 'GET /auth/me': { user: { ...ada, githubConnected: false } } },
    })
    expect(await screen.findByRole('heading', { name: 'Connect GitHub Account' })).toBeTruthy()
    const assign = vi.fn<(address: string) => void>()
    vi.stubGlobal('location', { ...window.location, assign })
    server.answer({ 'POST /auth/github/link': { url: '/api/auth/github?link=once' } })
    fireEvent.click(screen.getByRole('button', { name: 'Connect GitHub' }))
    await waitFor(() => expect(assign).toHaveBeenCalledExactlyOnceWith('/api/auth/github?link=once'))
    vi.unstubAllGlobals()
  })

  // Holds screens 2.66a.
  test('that is connected shows its handle, three counts, and the ways to its app', async () => {
    openPage('/settings?tab=github', {
      answers: {
        ...host,
        'GET /github/repos': { repositories: [repositoryOf('engine'), repositoryOf('notes')] },
        'GET /github/orgs': { organizations: [{ id: '1', login: 'northwind', avatar_url: null }] },
      },
    })
    expect(await screen.findByRole('heading', { name: 'Connected to GitHub' })).toBeTruthy()
    expect(await screen.findByText('@ada')).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Disconnect' })).toBeTruthy()
    const count = (name: string) => screen.getByText(name).nextElementSibling?.textContent
    await waitFor(() =>
      expect(['Accessible Repositories', 'Organizations', 'Public Repositories'].map(count)).toEqual([
        '2',
        '1',
        '3',
      ]),
    )
    expect(screen.getByRole('heading', { name: 'Repository Access' })).toBeTruthy()
    const link = (name: string) => screen.getByRole('link', { name })
    expect(link('Install App in More Organizations').getAttribute('href')).toBe('https://code.example/i')
    expect(link('Manage App Installations').getAttribute('href')).toBe('https://code.example/m')
    expect(link('Manage App Installations').getAttribute('target')).toBe('_blank')
  })

  test('whose access was taken back on GitHub is connected again', async () => {
    const lost = () => refusal(403, 'Connect your GitHub account in Settings first.', 'github_not_connected')
    const server = openPage('/settings?tab=github', {
      answers: { ...host, 'GET /github/user': lost, 'GET /github/orgs': lost, 'GET /github/repos': lost },
    })
    fireEvent.click(await screen.findByRole('button', { name: 'Connect GitHub' }))
    await waitFor(() => expect(server.of('POST /auth/github/link')).toHaveLength(1))
    expect(screen.queryByRole('heading', { name: 'Connected to GitHub' })).toBeNull()
  })

  test('that could not be read is read again by a button, which stays when the notification goes', async () => {
    const answers = { 'GET /github/access': withApp(), 'GET /github/user': () => refusal(502) }
    const server = openPage('/settings?tab=github', { answers })
    const again = await screen.findByRole('button', { name: 'Try Again' })
    expect(screen.getByText('Some details from GitHub are missing.')).toBeTruthy()
    server.answer({
      'GET /github/user': { user: { login: 'ada', public_repos: 12 }, appUrls: { install: '', manage: '' } },
      'GET /github/orgs': { organizations: [] },
    })
    fireEvent.click(again)
    expect(await screen.findByText('12')).toBeTruthy()
    await waitFor(() => expect(screen.queryByText('Some details from GitHub are missing.')).toBeNull())
  })

  // Holds contract 6.1e; screens 2.66b.
  test('is told of: what it reaches, and who must approve what', async () => {
    openPage('/settings?tab=github', { answers: host })
    expect(await screen.findByText('@ada')).toBeTruthy()
    for (const help of [
      'Organization owners must approve the installation.',
      'You can request access, or install the app yourself if you are permitted to.',
      'New repositories become available when creating projects.',
    ])
      expect(await screen.findByText(help)).toBeTruthy()
  })

  // Holds contract 8.19a.
  test('that cannot be read is told of', async () => {
    openPage('/settings?tab=github', { answers: { ...host, 'GET /github/user': () => refusal(502) } })
    expect((await screen.findAllByText('Failed to fetch GitHub data')).length).toBeGreaterThan(0)
  })

  // Holds contract 8.19c.
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

describe('the installations of the App', () => {
  const told = {
    'GET /github/user': { user: { login: 'ada', public_repos: 3 }, appUrls: { install: '', manage: '' } },
    'GET /github/orgs': { organizations: [] },
    'GET /github/repos': { repositories: [repositoryOf('engine')] },
  }
  const own = {
    ...installed,
    id: '8',
    account: 'ada',
    isOrganization: false,
    repositories: 'selected',
    count: 1,
  }
  const missing = [
    { name: 'checks', level: 'read' },
    { name: 'issues', level: 'write' },
  ]
  const open = (access: object, address = '/settings?tab=github') =>
    openPage(address, { answers: { ...told, 'GET /github/access': access } })
  const rows = async () => {
    const list = within(await screen.findByRole('region', { name: 'Installations' }))
    return (await list.findAllByRole('listitem')).map(({ textContent }) => textContent)
  }

  test('are fetched from the code host again by a button', async () => {
    const server = open(withApp({ installations: [installed] }))
    expect(await rows()).toHaveLength(1)
    server.answer({ 'GET /github/access': withApp({ installations: [installed, own] }) })
    fireEvent.click(screen.getByRole('button', { name: 'Refresh' }))
    await waitFor(async () => expect(await rows()).toHaveLength(2))
    expect(server.of('GET /github/access').map(({ query }) => query)).toEqual([{}, { refresh: 'true' }, {}])
  })

  test('are counted and listed with what is missing, and who can grant it where', async () => {
    open(
      withApp({
        installations: [
          { ...installed, missing },
          { ...own, isSuspended: true, count: null },
        ],
      }),
    )
    expect(await rows()).toEqual([
      'acmeAll repositories (12)Not granted: checks (read), issues (write). An owner of acme can grant it on GitHub.Review on GitHub',
      'adaSelected repositoriesSuspended. The owner of the account ada can lift that on GitHub.Review on GitHub',
    ])
    expect(screen.getByText('Accessible Repositories').nextElementSibling?.textContent).toBe('12')
    const link = screen.getByRole('link', { name: 'Configure the installation for acme' })
    expect(link.getAttribute('href')).toBe('https://code.example/7')
  })

  test('that wait for an owner are named', async () => {
    open(withApp({ installations: [], requests: [{ account: 'northwind' }] }))
    expect(await rows()).toEqual(['Waiting for an owner of northwind.'])
  })

  test('that were asked for a moment ago wait too, before the code host lists them', async () => {
    open(withApp({ installations: [installed] }), '/settings?tab=github&requested=true')
    expect((await rows()).at(-1)).toBe('Waiting for an owner of the organization.')
  })

  test('are none at first', async () => {
    open(withApp({ installations: [] }))
    expect(await rows()).toEqual(['The App is not installed in an account of yours yet.'])
    expect(screen.getByText('Accessible Repositories').nextElementSibling?.textContent).toBe('0')
  })

  test('github 4.4: of a private App are offered in no other account, and who can change that is said', async () => {
    const { app, ...rest } = withApp({ installations: [installed] })
    open({ ...rest, app: { ...app, isPublic: false } })
    expect(
      await screen.findByText(/^The App is private: only the account that owns it can install it/),
    ).toBeTruthy()
    expect(screen.queryByRole('link', { name: 'Install App in More Organizations' })).toBeNull()
    expect(screen.queryByRole('link', { name: 'Install the App' })).toBeNull()
  })

  test('github 4.4: a private App that is installed nowhere yet can be installed', async () => {
    const { app, ...rest } = withApp({ installations: [] })
    open({ ...rest, app: { ...app, isPublic: false } })
    expect(await screen.findByRole('link', { name: 'Install the App' })).toBeTruthy()
  })

  test('need no App to count what the person reaches, and then nothing is to be installed', async () => {
    open({ app: null, installations: null, more: 0, requests: [] })
    expect(await screen.findByText(/^This server uses no GitHub App\./)).toBeTruthy()
    expect(screen.queryByRole('link', { name: 'Install App in More Organizations' })).toBeNull()
    const count = screen.getByText('Accessible Repositories').nextElementSibling
    await waitFor(() => expect(count?.textContent).toBe('1'))
  })

  test('that could not be read are asked for again', async () => {
    let isAway = true
    open(() => (isAway ? refusal(502) : withApp({ installations: [installed] })))
    const list = within(await screen.findByRole('region', { name: 'Installations' }))
    const again = await list.findByRole('button', { name: 'Try Again' })
    isAway = false
    fireEvent.click(again)
    expect(await screen.findByText('acme')).toBeTruthy()
  })

  test('one that the browser comes back with is told of once, and leaves the address', async () => {
    const server = open(withApp({ installations: [installed] }), '/settings?tab=github&installation_id=7')
    expect(await screen.findByText('The App is installed for acme')).toBeTruthy()
    // The page names the next step (github 4.3).
    expect(screen.getByText(/^Next: make a project/)).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Create Project' }).getAttribute('href')).toBe('/projects/new')
    expect(server.of('GET /github/access').map(({ query }) => query)).toContainEqual({ installation_id: '7' })
  })

  test('one that is not the person’s is refused in the words of the catalogue, and the others are shown', async () => {
    const failed = 'GitHub App installation callback failed.'
    open(
      ({ query }: { query: { installation_id?: string } }) =>
        query.installation_id === undefined
          ? withApp({ installations: [installed] })
          : refusal(422, failed, 'install_callback'),
      '/settings?tab=github&installation_id=9',
    )
    expect((await screen.findByRole('alert')).textContent).toContain(failed)
    expect(await rows()).toHaveLength(1)
  })
})
