// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within, cleanup, render } from '@testing-library/react'
import { describe, expect, test, vi, onTestFinished } from 'vitest'
import { Link, MemoryRouter } from 'react-router-dom'
import { openPage, openTaskAnswers } from '../../../tests/client/page.tsx'
import { ada, projectOf, taskOf } from '../../../tests/client/samples.ts'
import { json, type Answers } from '../../../tests/client/server.ts'
import { tellPageView } from './pageView.ts'
import { RouteEffects } from './App.tsx'

const project = projectOf(1)
const task = taskOf(1)
const answers: Answers = {
  'GET /projects': { projects: [project], next: null },
  'GET /tasks': { tasks: [task], next: null },
  'GET /agents': { agents: [] },
  [`GET /projects/${project.id}`]: { project },
  [`GET /projects/${project.id}/branches`]: { branches: [] },
  ...openTaskAnswers(task),
}
const heading = (name: string) => screen.findByRole('heading', { level: 1, name })
const never = new Promise<never>(() => undefined)
const newcomer = { user: { ...ada, onboardingCompleted: false } }

describe('the address', () => {
  // Holds screens 2.1, 2.6, 2.7, 2.8, 2.9, 2.11, 2.12, 2.14d, 2.27.
  test.each([
    ['/', 'What are we coding next?'],
    ['/dashboard', 'What are we coding next?'],
    ['/projects', 'Manage Projects'],
    ['/projects/new', 'GitHub Integration'],
    [`/projects/${project.id}`, 'engine-1'],
    ['/tasks', 'Tasks'],
    [`/tasks/${task.id}`, 'Task 1'],
    ['/settings', 'Settings'],
  ])('%s shows %s', async (address, title) => {
    openPage(address, { answers })
    expect(await heading(title)).toBeTruthy()
  })

  // Holds screens 2.2, 2.4b, 2.23c.
  test.each(['/auth', '/login', '/auth/callback'])(
    '%s shows a visitor the sign-in screen',
    async (address) => {
      openPage(address, { signedOut: 'logout' })
      expect(await heading('Welcome Back')).toBeTruthy()
    },
  )

  test('github 4.3: whoever comes back from installing the App and is not signed in is told that this is next', async () => {
    openPage('/settings?tab=github&installation_id=7', { signedOut: 'none' })
    expect(
      await screen.findByText(/^If you have just installed the App, that is done\. Sign in/),
    ).toBeTruthy()
  })

  // Holds screens 2.5, 2.15c.
  test.each(['/onboarding', '/onboarding/subscription'])(
    '%s shows a newcomer the onboarding, without the top bar',
    async (address) => {
      openPage(address, { answers: { 'GET /auth/me': newcomer } })
      expect(await screen.findByText('Step 1 of 2')).toBeTruthy()
      expect(screen.queryByRole('banner')).toBeNull()
    },
  )

  test.each([
    ['/dashboard', 'What are we coding next?', false],
    [`/tasks/${task.id}`, 'Task 1', true],
    [`/tasks/${task.id}/compare`, 'Task not found', false],
  ])('%s tells toasts whether its bottom is where one writes: %s', async (address, title, fills) => {
    openPage(address, { answers })
    await heading(title)
    expect(document.querySelector('[data-fills-window]') !== null).toBe(fills)
  })

  // Holds screens 2.10.
  test('/tasks is a place for a page to come', async () => {
    openPage('/tasks', { answers })
    expect(await screen.findByText('Tasks page coming soon...')).toBeTruthy()
  })

  test('that is none says to a visitor too whose page it is', async () => {
    openPage('/no/such/page', { signedOut: 'none' })
    expect(await heading('Page not found')).toBeTruthy()
    expect(screen.getByText('Flightdeck')).toBeTruthy()
  })

  test.each([
    ['/auth/nowhere', 0],
    ['/onboarding/nowhere', 1],
  ])('%s is none, with %i top bars', async (address, bars) => {
    openPage(address, { answers })
    expect(await heading('Page not found')).toBeTruthy()
    await waitFor(() => expect(screen.queryAllByRole('banner')).toHaveLength(bars))
  })

  // Holds screens 2.13.
  test('that is none says so, and leads to the dashboard', async () => {
    openPage('/no/such/page', { answers })
    expect(await heading('Page not found')).toBeTruthy()
    fireEvent.click(screen.getByRole('link', { name: 'Go back home' }))
    expect(await heading('What are we coding next?')).toBeTruthy()
  })
})

describe('a page for members', () => {
  // Holds screens 2.14a.
  test('shows a spinner while it is not known who is there', async () => {
    openPage('/projects', { answers: { ...answers, 'GET /auth/me': never } })
    expect((await screen.findAllByRole('status')).length).toBeGreaterThan(0)
    expect(screen.queryByRole('heading')).toBeNull()
  })

  test('says what the server said where it cannot tell who is there, and not that it is away', async () => {
    openPage('/projects', {
      answers: { ...answers, 'GET /auth/me': () => json(500, { error: 'Something went wrong.' }) },
    })
    expect(await heading("Couldn't load your account.")).toBeTruthy()
    expect(screen.getByText('Something went wrong.')).toBeTruthy()
    expect(screen.queryByText(/could not be reached/)).toBeNull()
  })

  // Holds screens 2.14b.
  test('leads a visitor to the sign-in screen', async () => {
    openPage('/projects', { signedOut: 'logout' })
    expect(await heading('Welcome Back')).toBeTruthy()
  })

  // Holds screens 2.14c.
  test('leads who has not completed the onboarding to it', async () => {
    openPage('/projects', { answers: { ...answers, 'GET /auth/me': newcomer } })
    expect(await screen.findByText('Step 1 of 2')).toBeTruthy()
  })
})

describe('the sign-in callback', () => {
  // Holds screens 2.20a.
  test('says what it does while it is not known who is there', async () => {
    openPage('/auth/callback', { answers: { ...answers, 'GET /auth/me': never } })
    expect(await screen.findByText('Completing authentication...')).toBeTruthy()
  })

  // Holds screens 2.3, 2.23a.
  test('without a token leads who is known to the dashboard, or to the onboarding', async () => {
    openPage('/auth/callback', { answers })
    expect(await heading('What are we coding next?')).toBeTruthy()
  })

  // Holds screens 2.23b.
  test('without a token leads a newcomer who is known to the onboarding', async () => {
    openPage('/auth/callback', { answers: { 'GET /auth/me': newcomer } })
    expect(await screen.findByText('Step 1 of 2')).toBeTruthy()
  })
})

describe('the top bar', () => {
  // Holds screens 2.15a.
  test('has the brand, the pages with the current one marked, the person and a way out', async () => {
    openPage('/projects', { answers })
    const bar = await screen.findByRole('banner')
    expect(within(bar).getByText('Flightdeck')).toBeTruthy()
    const pages = within(bar).getAllByRole('navigation')[0]
    if (pages === undefined) throw new Error('There is no navigation.')
    expect(
      within(pages)
        .getAllByRole('link')
        .map(({ textContent }) => textContent),
    ).toEqual(['Dashboard', 'Projects', 'Figures', 'Settings'])
    expect(within(pages).getByRole('link', { current: 'page' }).textContent).toBe('Projects')
    const person = within(bar).getByRole('link', { name: 'Ada Lovelace, Settings' })
    expect(person.getAttribute('href')).toBe('/settings')
    expect(within(bar).getByRole('button', { name: 'Logout' })).toBeTruthy()
    // On a narrow screen the pages are in a menu.
    fireEvent.click(within(bar).getByRole('button', { name: 'Menu' }))
    const menu = within(await screen.findByRole('dialog', { name: 'Menu' }))
    expect(menu.getByRole('link', { name: 'Ada Lovelace, Settings' }).getAttribute('href')).toBe('/settings')
    expect(menu.getByRole('button', { name: 'Logout' })).toBeTruthy()
  })
})

describe('leaving a task', () => {
  // Holds screens 2.16.
  test('scrolls smoothly to the top, and not smoothly for who wants things still', async () => {
    openPage(`/tasks/${task.id}`, { answers })
    await heading('Task 1')
    const scrollTo = vi.spyOn(window, 'scrollTo').mockImplementation(() => undefined)
    const media = vi.spyOn(window, 'matchMedia')
    const leave = async () => {
      fireEvent.click(screen.getByRole('link', { name: 'Back to Dashboard' }))
      await heading('What are we coding next?')
      await waitFor(() => expect(scrollTo).toHaveBeenCalledOnce())
      return scrollTo.mock.lastCall
    }
    expect(await leave()).toEqual([{ top: 0, behavior: 'instant' }])
    scrollTo.mockClear()
    fireEvent.click(screen.getByRole('link', { name: 'Task 1' }))
    await heading('Task 1')
    scrollTo.mockClear()
    media.mockImplementation((query) => Object.assign(matchingNothing(), { media: query }))
    expect(await leave()).toEqual([{ top: 0, behavior: 'smooth' }])
    scrollTo.mockRestore()
  })
})

function matchingNothing(): MediaQueryList {
  return Object.assign(new EventTarget(), {
    matches: false,
    media: '',
    onchange: null,
    addListener: () => undefined,
    removeListener: () => undefined,
  })
}

// Holds screens 2.17.
test('a page view is told at the start and on every change of the route, and not when only the query changes', async () => {
  const told: unknown[] = []
  const sendBeacon = async (_address: string | URL, body?: BodyInit | null) => {
    if (body instanceof Blob) told.push(JSON.parse(await body.text()))
  }
  Object.defineProperty(navigator, 'sendBeacon', { configurable: true, value: sendBeacon })
  vi.stubGlobal('matchMedia', () => ({ matches: true }))
  vi.stubGlobal('scrollTo', () => undefined)
  onTestFinished(() => {
    cleanup()
    Reflect.deleteProperty(navigator, 'sendBeacon')
    vi.unstubAllGlobals()
  })
  render(
    <MemoryRouter initialEntries={['/settings']}>
      <RouteEffects onPageView={tellPageView} />
      <Link to="/settings?tab=github">GitHub</Link>
      <Link to="/tasks/0192f0c1-7e1b-7000-8000-000000000001">A task</Link>
      <Link to="/no/such/page">Nowhere</Link>
    </MemoryRouter>,
  )
  for (const name of ['GitHub', 'A task', 'Nowhere']) fireEvent.click(screen.getByText(name))
  await vi.waitFor(() =>
    expect(told).toEqual([{ route: '/settings' }, { route: '/tasks/:taskId' }, { route: 'other' }]),
  )
})
