/** Who may open which pages, and what the sign-in screen says after a failed sign-in. */
import { afterAll, describe, test } from 'vitest'
import { expect } from './expect.ts'
import { completeOnboarding, signInAs } from './pages/signIn.ts'
import { openStage } from './stage.ts'
import { isApi } from './visit.ts'
import { visiting } from './visiting.ts'

/** The message of the sign-in screen for each error in its address. */
const errors: Readonly<Record<string, string>> = {
  github: 'GitHub authentication failed. Please try again.',
  server: 'Server error occurred during authentication.',
  no_install_id: 'GitHub App installation failed.',
  session_lost: 'Session expired. Please try again.',
  user_not_found: 'User not found. Please try again.',
  install_callback: 'GitHub App installation callback failed.',
  'anything else': 'Authentication failed. Please try again.',
}

const stage = await openStage()
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')

describe('a visitor', () => {
  // Holds screens 2.18.
  test('is led to the sign-in from every page, and nothing is asked of the server', async () => {
    const { page, requests } = await visiting(stage)
    for (const path of ['/', '/dashboard', '/projects', '/projects/new', '/tasks', '/tasks/1', '/settings']) {
      await page.goto(path)
      await expect(page).toHaveURL('/auth')
      await expect(page.getByRole('heading', { name: 'Welcome Back' })).toBeVisible()
    }
    await page.goto('/onboarding')
    await expect(page).toHaveURL('/auth')
    await page.goto('/auth/callback')
    await expect(page).toHaveURL('/auth')
    await page.goto('/no/such/page')
    await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible()
    expect(requests.map((request) => request.url()).filter(asksTheServer)).toEqual([])
  })

  // Holds contract 4.10.
  test('sees the button busy while the code host is on its way, and as it was when they come back', async () => {
    const { page } = await visiting(stage)
    await page.goto('/auth')
    // An answer without content leaves the page where it is: it stays on its way.
    await page.route('**/api/auth/github?*', (route) => route.fulfill({ status: 204 }), { times: 1 })
    await page.getByRole('button', { name: 'Continue with GitHub' }).click()
    await expect(page.getByRole('button', { name: 'Connecting...' })).toBeDisabled()

    await page.reload()
    await page.getByRole('button', { name: 'Continue with GitHub' }).click()
    await expect(page.getByRole('heading', { name: 'Sign in to Flightdeck' })).toBeVisible()
    await page.goBack()
    await expect(page.getByRole('button', { name: 'Continue with GitHub' })).toBeEnabled()
  })

  test('who cancels at the code host is told that it failed', async () => {
    const { page } = await visiting(stage)
    await page.goto('/auth')
    await page.getByRole('button', { name: 'Continue with GitHub' }).click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await expect(page.getByText('GitHub authentication failed. Please try again.')).toBeVisible()
    await expect(page).toHaveURL('/auth?error=github')
  })

  // Holds contract 8.1, 8.2, 8.3b, 8.4, 8.5, 8.6b, 8.7, 8.21; screens 2.19e.
  test('is told what the error in the address means, also when it came with the callback', async () => {
    const { page } = await visiting(stage)
    for (const [value, text] of Object.entries(errors)) {
      await page.goto(`/auth?${new URLSearchParams({ error: value })}`)
      await expect(page.getByRole('alert')).toHaveText(text)
      await page.goto(`/auth/callback?${new URLSearchParams({ error: value, token: 'not-to-be-kept' })}`)
      await expect(page).toHaveURL(/\/auth\?error=/)
      await expect(page.getByRole('alert')).toHaveText(text)
      expect(await page.evaluate(() => localStorage.getItem('authToken'))).toBeNull()
    }
  })
})

test('the token of a sign-in is out of the address before anything is asked for, and in no referrer', async () => {
  const { page, context, requests } = await visiting(stage)
  await context.addInitScript(() => {
    // An empty page comes first, and has no storage.
    if (location.protocol === 'http:') sessionStorage.setItem('signIn', 'n0nce')
    // Where the page was when it asked, told by the page itself: events of the browser may overtake each other.
    const asked: string[] = []
    Object.assign(globalThis, { asked })
    const { fetch } = globalThis
    globalThis.fetch = (...args) => {
      asked.push(location.href)
      return fetch(...args)
    }
    globalThis.WebSocket = class extends WebSocket {
      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        asked.push(location.href)
        super(...args)
      }
    }
  })
  await page.goto(`/auth/callback?token=${ada.token}&onboarding=false&nonce=n0nce`)
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByRole('banner').getByRole('status')).toHaveText('Live')

  const asked: unknown = await page.evaluate(() => Reflect.get(globalThis, 'asked'))
  expect(asked).toContain(`${stage.product.base}/dashboard`)
  expect(JSON.stringify(asked)).not.toContain(ada.token)
  const [document_, ...others] = requests
  expect(document_?.url()).toContain(ada.token)
  for (const request of others) {
    expect(request.url()).not.toContain(ada.token)
    expect(await request.headerValue('referer')).toBeNull()
  }
  await page.goBack()
  expect(page.url()).not.toContain(ada.token)
})

// Holds findings 1.26.
test('finding 9: a link with the token of another account replaces no session, unless the person says so', async () => {
  const grace = await stage.product.signIn('grace', { onboarding: 'left' })
  const { page } = await visiting(stage, { as: ada })
  const kept = () => page.evaluate(() => localStorage.getItem('authToken'))
  const link = `/auth/callback?token=${grace.token}&onboarding=true`
  await page.goto(link)
  await expect(page.getByRole('heading', { name: 'Sign in as Grace Hopper?' })).toBeVisible()
  await expect(page).toHaveURL('/auth/callback')
  await expect(page.getByText('You are signed in as Ada Lovelace.')).toBeVisible()
  expect(await kept()).toBe(ada.token)
  await page.getByRole('button', { name: 'Stay signed in as Ada Lovelace' }).click()
  await expect(page).toHaveURL('/dashboard')
  expect(await kept()).toBe(ada.token)

  await page.goto(link)
  await page.getByRole('button', { name: 'Continue as Grace Hopper' }).click()
  await expect(page).toHaveURL('/onboarding')
  expect(await kept()).toBe(grace.token)
})

test('who is signed in is asked for once, beside the libraries, and so are the tasks', async () => {
  const { page, requests } = await visiting(stage, { as: ada })
  await page.goto('/dashboard')
  await expect(page.getByRole('heading', { name: 'What are we coding next?' })).toBeVisible()
  await expect(page.getByRole('banner').getByRole('status')).toHaveText('Live')
  const paths = requests
    .map((request) => new URL(request.url()))
    .map(({ pathname, search }) => pathname + search)
  // With whatever is asked of them: what was sent ahead is what the page asks for.
  for (const read of ['/api/auth/me', '/api/tasks'])
    expect(paths.filter((asked) => asked.split('?')[0] === read)).toHaveLength(1)
})

describe('a session that is over', () => {
  // Holds contract 8.10a; screens 2.4a.
  test('leads to /login, and the token is dropped', async () => {
    const { page, expectFault } = await visiting(stage, { as: stage.product.personWith('no-such-token') })
    expectFault(/answered 401/)
    await page.goto('/dashboard')
    await expect(page).toHaveURL('/login')
    await expect(page.getByRole('alert')).toHaveText('Session expired. Please try again.')
    expect(await page.evaluate(() => localStorage.getItem('authToken'))).toBeNull()
    await signInAs(page, 'Ada Lovelace')
    await expect(page).toHaveURL('/dashboard')
  })

  test('leads there also when it ends while the page is open', async () => {
    const person = await stage.product.signIn('ada')
    const { page, expectFault } = await visiting(stage, { as: person })
    expectFault(/answered 401/)
    await page.goto('/dashboard')
    await expect(page.getByRole('heading', { name: 'What are we coding next?' })).toBeVisible()
    await person.api('POST', '/auth/logout')
    await expect(page).toHaveURL('/login')
    await expect(page.getByRole('alert')).toHaveText('Session expired. Please try again.')
  })

  test('a refusal of the code host is no end of the session', async () => {
    const { page, expectFault } = await visiting(stage, { as: ada })
    expectFault(/github\/repos.* answered 401/)
    await page.route('**/api/github/repos*', (route) =>
      route.fulfill({ status: 401, json: { error: 'The code host says no.', code: 'sign_in_required' } }),
    )
    await page.goto('/projects/new')
    await expect(page.getByText('Failed to fetch repositories')).toBeVisible()
    await expect(
      page.getByText('Could not load your repositories from GitHub. Please try again later.'),
    ).toBeVisible()
    expect(await page.evaluate(() => localStorage.getItem('authToken'))).toBe(ada.token)
    await expect(page).toHaveURL('/projects/new')
  })
})

// Holds contract 4.17, 5.12a.
test('a newcomer is kept at the onboarding until it is complete', async () => {
  const grace = await stage.product.signIn('grace', { onboarding: 'left' })
  const { page } = await visiting(stage, { as: grace })
  for (const path of ['/', '/dashboard', '/projects', '/tasks/1', '/settings']) {
    await page.goto(path)
    await expect(page).toHaveURL('/onboarding')
  }
  await expect(page.getByRole('banner')).toBeHidden()
  const name = page.getByRole('textbox', { name: 'Full Name' })
  await expect(name).toHaveValue('Grace Hopper')
  await name.fill('   ')
  await expect(page.getByRole('button', { name: 'Continue' })).toBeDisabled()
  await name.fill('Rear Admiral Grace Hopper')
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByRole('button', { name: 'Complete Setup' })).toBeDisabled()
  await page.getByRole('button', { name: 'Back' }).click()
  await expect(name).toHaveValue('Rear Admiral Grace Hopper')
  await completeOnboarding(page)
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByRole('banner')).toContainText('Rear Admiral Grace Hopper')
  await expect(page.getByRole('banner').getByRole('status')).toHaveText('Live')
  await page.goto('/onboarding')
  await expect(page).toHaveURL('/dashboard')
})

test('an address that is none says so, and leads home', async () => {
  const { page } = await visiting(stage, { as: ada })
  await page.goto('/no/such/page')
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible()
  await page.getByRole('link', { name: 'Go back home' }).click()
  await expect(page).toHaveURL('/dashboard')
  await page.goto('/tasks')
  await expect(page.getByText('Tasks page coming soon...')).toBeVisible()
})

test('logging out ends the session in every tab and at the server', async () => {
  const person = await stage.product.signIn('ada')
  const { page, context } = await visiting(stage, { as: person })
  await page.goto('/settings')
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await page.getByRole('textbox', { name: 'Task description' }).fill('A draft of my own')
  const other = await context.newPage()
  await other.goto('/settings')
  await expect(other.getByRole('heading', { name: 'Settings' })).toBeVisible()

  const toldServer = page.waitForResponse('**/api/auth/logout')
  await page.getByRole('button', { name: 'Logout' }).click()
  await expect(page).toHaveURL('/auth')
  await expect(other).toHaveURL('/auth')
  await toldServer
  expect((await person.api('GET', '/auth/me')).status).toBe(401)
  await page.goBack()
  await expect(page).toHaveURL('/auth')
  // What one person wrote is not for the next.
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('A draft of my own')
})

test('somebody new adds the sample project with one click, and is led to a first task', async () => {
  const { page } = await visiting(stage, { as: ada })
  await page.goto('/dashboard')
  const next = page.getByRole('region', { name: 'Next step' })
  await expect(next.getByRole('heading', { name: 'Start with a project' })).toBeVisible()
  await next.getByRole('button', { name: 'Add Sample Project' }).click()
  await expect(page.getByRole('combobox', { name: 'Project: ada/sample' })).toBeVisible()
  await next.getByRole('button', { name: /^Support days/ }).click()
  await expect(page.getByRole('textbox', { name: 'Task description' })).toBeFocused()
  await expect(page.getByRole('textbox', { name: 'Task description' })).toHaveValue(/^Support days/)
  await expect(page.getByRole('button', { name: 'Start Coding' })).toBeEnabled()
  await next.getByRole('button', { name: 'Hide next steps' }).click()
  await expect(next).toBeHidden()
})

function asksTheServer(address: string): boolean {
  const { pathname } = new URL(address)
  // That a page was viewed is told, and nothing asked.
  return (isApi(address) && pathname !== '/api/page-views') || pathname.startsWith('/socket.io')
}
