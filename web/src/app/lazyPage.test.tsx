// @vitest-environment jsdom
import { act, cleanup, render, screen } from '@testing-library/react'
import { Suspense, type ComponentType } from 'react'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ErrorBoundary } from './ErrorBoundary.tsx'
import { ChunkLoadError, inTime, lazyPage } from './lazyPage.ts'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const never = () => new Promise<ComponentType>(() => undefined)

describe('a page whose chunk', () => {
  test('does not come within 120 seconds is told as missing', async () => {
    vi.useFakeTimers()
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const Page = lazyPage(never)
    render(
      <ErrorBoundary>
        <Suspense fallback="Loading">
          <Page />
        </Suspense>
      </ErrorBoundary>,
    )
    await act(() => vi.advanceTimersByTimeAsync(119_999))
    expect(screen.queryByText('Loading')).not.toBeNull()
    await act(() => vi.advanceTimersByTimeAsync(1))
    expect(screen.getByRole('alert').textContent).toContain('This page could not be loaded')
  })

  test('fails to load is a chunk-load error, which names its cause', async () => {
    const cause = new TypeError('Failed to fetch dynamically imported module')
    const fault = await inTime(() => Promise.reject(cause), 1_000).catch((reason: unknown) => reason)
    expect(fault).toBeInstanceOf(ChunkLoadError)
    expect(fault).toMatchObject({ name: 'ChunkLoadError', cause })
  })

  test('comes is shown', async () => {
    const Page = lazyPage(async () => () => <p>Here it is</p>)
    render(
      <Suspense fallback="Loading">
        <Page />
      </Suspense>,
    )
    expect(await screen.findByText('Here it is')).toBeTruthy()
  })
})
