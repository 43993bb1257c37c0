/** The names and options of sign-in cookies. */
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { hostCookieName, hostCookieOptions, setHostCookie } from './signedClaims.ts'

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

test('a cookie for https is set although a proxy forwards by plain http and does not say how the browser came', () => {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  const { cookies } = new Koa().createContext(request, response)
  const given = { path: '/api/auth/github', seconds: 60, sameSite: 'lax' } as const
  setHostCookie(cookies, 'https://a.example', 'name', 'value', given)
  expect(response.getHeader('set-cookie')).toEqual([expect.stringMatching(/^__Host-name=value;.*; secure/)])
})
