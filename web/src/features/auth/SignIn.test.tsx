// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'

test('an error of the session is told before the one in the address, in the same box', async () => {
  openPage('/auth?error=server', { signedOut: 'unauthorised' })
  const alerts = await screen.findAllByRole('alert')
  expect(alerts.map(({ textContent }) => textContent)).toEqual(['Session expired. Please try again.'])
})

test('the one in the address is told where the session has none', async () => {
  openPage('/auth?error=server', { signedOut: 'logout' })
  const alerts = await screen.findAllByRole('alert')
  expect(alerts.map(({ textContent }) => textContent)).toEqual([
    'Server error occurred during authentication.',
  ])
})
