// @vitest-environment jsdom
import { act, cleanup, render, screen } from '@testing-library/react'
import { Suspense, type ComponentType } from 'react'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ChunkLoadError, inTime } from '../../ui/inTime.ts'
import { ErrorBoundary } from '../ErrorBoundary.tsx'
import { isMissingChunk, lazyPage, reloadOnMissingChunk } from './lazyPage.ts'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const never = () => new Promise<ComponentType>(() => undefined)

describe('a page whose chunk', () => {
  // Holds contract 7.38b, 9.3.
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
    expect(screen.getByRole('alert').textContent).toContain("Couldn't load this page")
  })

  // Holds contract 7.38c.
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

test('a page that was loaded before is shown without a wait, also where it did not come at first', async () => {
  let comes = false
  const Page = lazyPage(async () => {
    if (!comes) throw new TypeError('Failed to fetch dynamically imported module')
    return () => <p>Here it is</p>
  })
  await expect(Page.load()).rejects.toThrow(ChunkLoadError)
  comes = true
  await Page.load()
  render(
    <Suspense fallback="Loading">
      <Page />
    </Suspense>,
  )
  expect(screen.getByText('Here it is')).toBeTruthy()
})

describe('a part that is missing', () => {
  /** A browser whose server fails this many times before it answers. */
  function browser(faults: number, kept = new Map<string, string>()) {
    const reload = vi.fn<() => void>()
    const fetch = vi.fn<typeof globalThis.fetch>(async () => {
      if (fetch.mock.calls.length <= faults) throw new TypeError('Failed to fetch')
      return new Response()
    })
    const sessionStorage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    }
    const page = { location: { pathname: '/settings', reload }, sessionStorage, fetch, build: '/assets/a.js' }
    return { page, reload, fetch, kept }
  }
  const staying = new AbortController().signal

  test('is waited for until the server answers; then the page is loaded again', async () => {
    vi.useFakeTimers()
    const { page, reload, fetch } = browser(3)
    void reloadOnMissingChunk(page, staying)
    await vi.advanceTimersByTimeAsync(6_999)
    expect([fetch.mock.calls.length, reload.mock.calls.length]).toEqual([3, 0])
    await vi.advanceTimersByTimeAsync(1)
    expect([fetch.mock.calls.length, reload.mock.calls.length]).toEqual([4, 1])
  })

  test('makes the page load again once, and once more only for another build', async () => {
    const { kept } = browser(0)
    const failing = async (build: string) => {
      const { page, reload } = browser(0, kept)
      await reloadOnMissingChunk({ ...page, build }, staying)
      return reload.mock.calls.length
    }
    expect(await failing('/assets/a.js')).toBe(1)
    expect(await failing('/assets/a.js')).toBe(0)
    expect(await failing('/assets/b.js')).toBe(1)
    expect(await failing('/assets/b.js')).toBe(0)
  })

  test('is left alone where nothing can be remembered, and by who has gone elsewhere', async () => {
    const closed = () => {
      throw new DOMException('Closed', 'SecurityError')
    }
    const { page, reload, fetch } = browser(0)
    await reloadOnMissingChunk({ ...page, sessionStorage: { getItem: closed, setItem: closed } }, staying)
    await reloadOnMissingChunk(page, AbortSignal.abort())
    expect(fetch).not.toHaveBeenCalled()
    expect(reload).not.toHaveBeenCalled()
  })

  test('is told apart from what breaks in a page', () => {
    for (const words of [
      'Failed to fetch dynamically imported module: https://x.example/assets/a.js',
      'error loading dynamically imported module: https://x.example/assets/a.js',
      'Importing a module script failed.',
    ])
      expect(isMissingChunk(new TypeError(words))).toBe(true)
    expect(isMissingChunk(new TypeError('x is not a function'))).toBe(false)
  })
})
