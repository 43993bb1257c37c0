// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { Suspense, useState, type ComponentType } from 'react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPart } from '../../../tests/client/page.tsx'
import { ErrorBoundary } from '../app/ErrorBoundary.tsx'
import { optionalPart } from './optionalPart.tsx'

type Load = () => Promise<ComponentType<object>>

/** A page that opens a part, and the errors that are reported meanwhile. */
function open(load: Load) {
  const Part = optionalPart(load)
  function Page() {
    const [isOpen, setOpen] = useState(false)
    return (
      <>
        <button onClick={() => setOpen(true)}>Open</button>
        {isOpen && (
          <Suspense fallback="Loading">
            <Part onMissing={() => setOpen(false)} />
          </Suspense>
        )}
      </>
    )
  }
  const faults: unknown[] = []
  const note = ({ error }: ErrorEvent) => void faults.push(error)
  window.addEventListener('error', note)
  onTestFinished(() => window.removeEventListener('error', note))
  openPart(
    <ErrorBoundary>
      <Page />
    </ErrorBoundary>,
  )
  const press = () => fireEvent.click(screen.getByRole('button', { name: 'Open' }))
  press()
  return { faults, press }
}

test('a part that cannot be loaded is reported and closed, and is loaded again when it is opened again', async () => {
  const cause = new TypeError('Failed to fetch dynamically imported module')
  const load = vi.fn<Load>().mockRejectedValueOnce(cause)
  load.mockResolvedValue(() => <p>Here it is</p>)
  const { faults, press } = open(load)
  await waitFor(() => expect(faults).toMatchObject([{ name: 'ChunkLoadError', cause }]))
  await waitFor(() => expect(screen.queryByText('Loading')).toBeNull())
  expect(load).toHaveBeenCalledOnce()
  press()
  expect(await screen.findByText('Here it is')).toBeTruthy()
})

test('a part that does not come within 120 seconds is reported and closed', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { faults } = open(() => new Promise(() => undefined))
  await act(() => vi.advanceTimersByTimeAsync(119_999))
  expect([screen.queryByText('Loading') === null, faults]).toEqual([false, []])
  await act(() => vi.advanceTimersByTimeAsync(1))
  expect(screen.queryByText('Loading')).toBeNull()
  expect(faults).toMatchObject([{ name: 'ChunkLoadError' }])
})
