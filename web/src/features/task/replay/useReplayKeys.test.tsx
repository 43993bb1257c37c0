// @vitest-environment jsdom
import { fireEvent, render, renderHook } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { taskId } from '../../../../../tests/domain/ids.ts'
import { clientStore } from '../../../../../tests/client/page.tsx'
import { openHistory } from '../history/historySession.ts'
import { useReplayKeys } from './useReplayKeys.ts'

test.each([
  ['button', 1],
  ['[role=menuitem]', 0],
  ['[role=option]', 0],
  ['[role=dialog]', 0],
] as const)('Escape on %s leaves the replay %i times', (place, times) => {
  const session = openHistory({
    live: clientStore(),
    whenPrinted: () => () => undefined,
    source: {
      page: async () => ({ items: [], next: '0.0', more: false, total: 0, missing: [] }),
      changes: async () => ({ reason: 'none' }),
      images: async () => [],
      bytes: async () => null,
    },
    base: {
      id: taskId(1),
      images: [],
      project: { id: 'p', name: 'Parcel', githubRepoName: '', githubOwner: '' },
    },
    names: { person: 'Ada', repository: '' },
    frame: () => () => undefined,
  })
  onTestFinished(session.close)
  const leaves = vi.spyOn(session, 'backToLive')
  renderHook(() => useReplayKeys(session))
  const { container } = render(
    <>
      <button type="button">Play</button>
      <div role="menu">
        <div role="menuitem" tabIndex={-1}>
          Copy
        </div>
      </div>
      <div role="listbox">
        <div role="option" aria-selected tabIndex={-1}>
          Claude
        </div>
      </div>
      <div role="dialog" />
    </>,
  )
  const element = container.querySelector(place)
  if (element === null) throw new Error(`There is no ${place}.`)
  // A key whose default is not prevented goes on to what is open.
  expect(fireEvent.keyDown(element, { key: 'Escape' })).toBe(times === 0)
  expect(leaves).toHaveBeenCalledTimes(times)
})
