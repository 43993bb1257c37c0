// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, test, vi } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'

// Holds contract 8.8.
test('an error of the session is told before the one in the address, in the same box', async () => {
  openPage('/auth?error=server', { signedOut: 'unauthorised' })
  const alerts = await screen.findAllByRole('alert')
  expect(alerts.map(({ textContent }) => textContent)).toEqual(['Session expired. Please try again.'])
})

// Holds screens 2.19b.
test('the one in the address is told where the session has none', async () => {
  openPage('/auth?error=server', { signedOut: 'logout' })
  const alerts = await screen.findAllByRole('alert')
  expect(alerts.map(({ textContent }) => textContent)).toEqual([
    'Server error occurred during authentication.',
  ])
})

describe('the sign-in screen', () => {
  // Holds screens 2.19a, 2.19c.
  test('says what the product is, and has one way in', async () => {
    openPage('/auth', { signedOut: 'logout' })
    expect(await screen.findByRole('heading', { name: 'Run CLI Coding Agents in the Cloud' })).toBeTruthy()
    expect(screen.getAllByRole('list')[0]?.children).toHaveLength(4)
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Welcome Back')
    expect(screen.getByText('Login with GitHub to continue')).toBeTruthy()
    expect(screen.queryByRole('alert')).toBeNull()
    expect(screen.getByRole('button', { name: 'Continue with GitHub' })).toHaveProperty('disabled', false)
  })

  test('says its name beside the button too, where there is no left column', async () => {
    openPage('/auth', { signedOut: 'logout' })
    const title = await screen.findByRole('heading', { name: 'Welcome Back' })
    expect(title.previousElementSibling?.textContent).toBe('Flightdeck')
  })

  // Holds screens 2.19d, 2.19f.
  test('goes to the code host, with the button busy until it is there', async () => {
    const assign = vi.fn<(address: string) => void>()
    vi.stubGlobal('location', { ...window.location, assign })
    openPage('/auth', { signedOut: 'logout' })
    fireEvent.click(await screen.findByRole('button', { name: 'Continue with GitHub' }))
    const button = await screen.findByRole('button', { name: 'Connecting...' })
    expect(button).toHaveProperty('disabled', true)
    await waitFor(() =>
      expect(assign).toHaveBeenCalledExactlyOnceWith(
        expect.stringMatching(/^\/api\/auth\/github\?nonce=[0-9a-f]{48}$/),
      ),
    )
    vi.unstubAllGlobals()
  })
})
