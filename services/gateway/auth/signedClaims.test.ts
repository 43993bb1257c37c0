/** The cookies of a sign-in. */
import { expect, test } from 'vitest'
import { hostCookieName, hostCookieOptions } from './signedClaims.ts'

test('no other host of the site can set a cookie of the sign-in where there is https', () => {
  const given = { path: '/api/auth/github', seconds: 60, sameSite: 'lax' } as const
  expect(hostCookieName('https://a.example', 'name')).toBe('__Host-name')
  // A browser takes a cookie with this prefix only with this path.
  expect(hostCookieOptions('https://a.example', given)).toMatchObject({
    path: '/',
    secure: true,
    httpOnly: true,
  })
  expect(hostCookieName('http://localhost', 'name')).toBe('name')
  expect(hostCookieOptions('http://localhost', given)).toMatchObject({
    path: '/api/auth/github',
    secure: false,
  })
})
