// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { ada } from '../../../../tests/client/samples.ts'
import { refusal, type Answers } from '../../../../tests/client/server.ts'

const user = { ...ada, onboardingCompleted: false }
const open = (answers: Answers = {}) =>
  openPage('/onboarding', { answers: { 'GET /auth/me': { user }, ...answers } })
const press = async (name: string) => fireEvent.click(await screen.findByRole('button', { name }))
const pick = async (group: string, option: string) =>
  fireEvent.click(
    within(await screen.findByRole('group', { name: group })).getByRole('radio', { name: option }),
  )
const field = async (name: string) => {
  const found = await screen.findByRole('textbox', { name })
  if (!(found instanceof HTMLInputElement)) throw new Error(`${name} is no field.`)
  return found
}

describe('the first step', () => {
  // Holds screens 2.24a.
  test('says where one is, and how much is complete', async () => {
    open()
    expect(await screen.findByText('Step 1 of 2')).toBeTruthy()
    expect((await screen.findByRole('progressbar')).getAttribute('aria-valuenow')).toBe('0')
  })

  // Holds screens 2.25.
  test('has the name, which is required, and the address, which is only read when it is known', async () => {
    open()
    expect((await field('Full Name')).value).toBe('Ada Lovelace')
    const email = await field('Email Address')
    expect([email.value, email.readOnly]).toEqual(['ada@example.com', true])
    expect(await screen.findByText('Email was fetched from your GitHub account')).toBeTruthy()
    fireEvent.change(await field('Full Name'), { target: { value: '  ' } })
    expect(screen.getByRole('button', { name: 'Continue' })).toHaveProperty('disabled', true)
  })

  test('asks for the address of who has none', async () => {
    open({ 'GET /auth/me': { user: { ...user, email: null } } })
    expect((await field('Email Address')).readOnly).toBe(false)
    expect(screen.queryByText('Email was fetched from your GitHub account')).toBeNull()
  })
})

test('the onboarding says whose it is, and can be left', async () => {
  const server = open({ 'POST /auth/logout': { success: true } })
  await screen.findByText('Step 1 of 2')
  expect(screen.getByText('Flightdeck')).toBeTruthy()
  await press('Logout')
  expect(await screen.findByRole('heading', { name: 'Welcome Back' })).toBeTruthy()
  expect(server.of('POST /auth/logout')).toHaveLength(1)
})

describe('the second step', () => {
  // Holds contract 5.12b; screens 2.26.
  test('needs a team size and a role, leads back, and in the end to the dashboard', async () => {
    let done: (answer: unknown) => void = () => undefined
    const server = open({
      'POST /auth/complete-onboarding': () => new Promise((resolve) => (done = resolve)),
    })
    await press('Continue')
    expect(await screen.findByText('Step 2 of 2')).toBeTruthy()
    expect(document.activeElement).toBe(screen.getByRole('heading', { level: 1 }))
    expect((await screen.findByRole('progressbar')).getAttribute('aria-valuenow')).toBe('50')
    const complete = () => screen.getByRole('button', { name: 'Complete Setup' })
    expect(complete()).toHaveProperty('disabled', true)
    await pick('Team Size', '6-20')
    expect(complete()).toHaveProperty('disabled', true)
    await pick('Role', 'CTO')
    await press('Back')
    expect(await screen.findByText('Step 1 of 2')).toBeTruthy()
    expect(document.activeElement).toBe(screen.getByRole('heading', { level: 1 }))
    await press('Continue')
    await press('Complete Setup')
    await waitFor(() => expect(complete().getAttribute('aria-busy')).toBe('true'))
    server.answer({ 'GET /auth/me': { user: ada } })
    done({ user: ada })
    expect(await screen.findByRole('heading', { name: 'What are we coding next?' })).toBeTruthy()
    expect(server.of('POST /auth/complete-onboarding')[0]?.body).toEqual({
      fullName: 'Ada Lovelace',
      companySize: '6-20',
      role: 'cto',
    })
  })

  // Holds screens 2.24b.
  test('says in a red box why it could not be completed', async () => {
    open({ 'POST /auth/complete-onboarding': () => refusal(500) })
    await press('Continue')
    await pick('Team Size', 'Just me')
    await pick('Role', 'Developer')
    await press('Complete Setup')
    expect((await screen.findByRole('alert')).textContent).toBe('Onboarding completion failed')
  })
})
