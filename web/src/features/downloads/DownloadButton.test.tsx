// @vitest-environment jsdom
import { act, cleanup, renderHook } from '@testing-library/react'
import { Provider } from 'react-redux'
import { expect, onTestFinished, test, vi } from 'vitest'
import { clientStore } from '../../../../tests/client/page.tsx'
import { tokenKey } from '../../api/tokenStore.ts'
import { useDownload } from './DownloadButton.tsx'

test.each([
  { code: 'timeout', signal: AbortSignal.abort() },
  { code: 'offline', signal: new AbortController().signal },
])('a download that fails without an answer has the code $code', async ({ code, signal }) => {
  localStorage.setItem(tokenKey, 'token-of-ada')
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(signal)
  vi.stubGlobal('fetch', () => Promise.reject(new Error('No answer.')))
  onTestFinished(() => {
    cleanup()
    localStorage.clear()
    timeout.mockRestore()
    vi.unstubAllGlobals()
  })
  const { result } = renderHook(useDownload, {
    wrapper: ({ children }) => <Provider store={clientStore()}>{children}</Provider>,
  })
  const call = { method: 'GET', path: '/audit', fallback: 'Failed to save the file' } as const
  const fault = await act(() => result.current.save(call, 'audit.ndjson'))
  expect(fault).toMatchObject({ status: null, code, message: call.fallback })
})
