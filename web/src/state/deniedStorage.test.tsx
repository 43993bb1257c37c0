// @vitest-environment jsdom
/** The client in a browser that blocks site data, where reading `window.localStorage` throws. */
import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { openPage } from '../../../tests/client/page.tsx'
import { dropToken, keepToken, readToken } from '../api/tokenStore.ts'
import { reloadingOf, reloadOnMissingChunk } from '../app/loading/lazyPage.ts'
import { takeToken } from '../features/auth/AuthCallback.tsx'
import { beginSignIn } from '../features/auth/signInNonce.ts'
import { forgetPersonal, recall, remember, selectedAgent } from './persisted.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

function deny(kind: 'localStorage' | 'sessionStorage'): void {
  vi.spyOn(window, kind, 'get').mockImplementation(() => {
    throw new DOMException('Access is denied for this document.', 'SecurityError')
  })
}

test('nobody is signed in, and every choice is the initial one', () => {
  deny('localStorage')
  keepToken('t0k')
  expect(readToken()).toBeNull()
  dropToken()
  remember(selectedAgent, 'cursor')
  expect(recall(selectedAgent)).toBe('claude')
  forgetPersonal()
})

test('a sign-in begins without a nonce', () => {
  deny('sessionStorage')
  const assign = vi.fn<(address: string) => void>()
  vi.stubGlobal('location', { ...window.location, assign })
  beginSignIn()
  expect(assign).toHaveBeenCalledExactlyOnceWith('/api/auth/github')
})

test('the token of a sign-in is taken out of the address, and asked about', () => {
  deny('localStorage')
  deny('sessionStorage')
  const replaceState = vi.fn<() => void>()
  const at = new URL('/auth/callback?token=t0k&nonce=n0nce', 'http://localhost')
  const outcome = takeToken(at, { state: null, replaceState })
  expect(outcome).toMatchObject({ kind: 'unasked', token: 't0k' })
  expect(replaceState).toHaveBeenCalledOnce()
})

test('a page whose chunk is missing is not loaded again', async () => {
  deny('sessionStorage')
  const fetched = vi.spyOn(window, 'fetch')
  await reloadOnMissingChunk(reloadingOf(window), new AbortController().signal)
  expect(fetched).not.toHaveBeenCalled()
})

test('a notice is shown, and goes when it is dismissed', async () => {
  deny('sessionStorage')
  const notice = 'Agents run without a sandbox.'
  openPage('/dashboard', { answers: { 'GET /notices': { notices: [notice] } } })
  await screen.findByText(notice)
  fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }))
  expect(screen.queryByText(notice)).toBeNull()
})
