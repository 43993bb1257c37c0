/** The names and options of sign-in cookies. */
import { expect, test } from 'vitest'
import { hostCookieName, hostCookieOptions } from './signedClaims.ts'

test('no other host of the site can set a cookie of the sign-in where there is https', () => {
  const given = { path: '/api/auth/github', seconds: 60, sameSite: 'lax' } as const
  expect(hostCookieName('https://a.example', 'name')).toBe('__Host-name')
  // Browsers accept a cookie with the prefix `__Host-` only if its path is `/`.
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
