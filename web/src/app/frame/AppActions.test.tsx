// @vitest-environment jsdom
import { waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { openPart } from '../../../../tests/client/page.tsx'
import { AppActions } from './AppActions.tsx'

const loaded = vi.hoisted(() => vi.fn<() => void>())
vi.mock(import('../../features/palette/Palette.tsx'), (original) => {
  loaded()
  return original()
})

afterEach(() => void vi.useRealTimers())

/** A page that has been open for as long as it takes until the overlays are preloaded. */
function openFor2Seconds() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  openPart(<AppActions />)
  vi.advanceTimersByTime(2_000)
  vi.useRealTimers()
}

test('the overlays are loaded before they are opened, but not while offline', async () => {
  const onLine = vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false)
  openFor2Seconds()
  await vi.dynamicImportSettled()
  expect(loaded).not.toHaveBeenCalled()
  onLine.mockRestore()
  openFor2Seconds()
  await waitFor(() => expect(loaded).toHaveBeenCalledOnce())
})
