// @vitest-environment jsdom
import { act, cleanup, renderHook } from '@testing-library/react'
import { Provider } from 'react-redux'
import { expect, onTestFinished, test, vi } from 'vitest'
import { clientStore } from '../../../../../tests/client/page.tsx'
import { fakeUploads } from '../../../../../tests/client/uploads.ts'
import { taskId } from '../../../../../tests/domain/ids.ts'
import type { Recording } from './recording.ts'
import { useSaveReplay } from './useSaveReplay.ts'

const recording: Recording = {
  format: 2,
  savedAt: '2026-01-01T00:00:00.000Z',
  base: {
    id: taskId(1),
    project: { id: 'p', name: 'Engine', githubRepoName: '', githubOwner: '' },
    images: [],
  },
  names: { person: 'Ada', repository: '' },
  items: [],
  missing: [],
  changes: { files: [], diffs: [], leftOut: 0 },
  images: { data: {}, leftOut: 0 },
}
const player = '<script type="application/json" id="recording"></script>'

test('a browser may read the saved file some time after the click', async () => {
  const { held } = fakeUploads()
  vi.stubGlobal('fetch', async () => new Response(player))
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const clicked = new Promise<void>((resolve) => {
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(resolve)
  })
  onTestFinished(() => {
    cleanup()
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
  const { result } = renderHook(() => useSaveReplay({ record: async () => recording }), {
    wrapper: ({ children }) => <Provider store={clientStore()}>{children}</Provider>,
  })
  await act(async () => {
    result.current.save()
    await clicked
  })
  expect(held.size).toBe(1)
  vi.advanceTimersByTime(10_000)
  expect(held.size).toBe(0)
})
