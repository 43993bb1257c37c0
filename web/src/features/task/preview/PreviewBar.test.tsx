// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openPart } from '../../../../../tests/client/page.tsx'
import { taskOf } from '../../../../../tests/client/samples.ts'
import { refusal } from '../../../../../tests/client/server.ts'
import { connectionChanged } from '../../../live/connection.ts'
import { PreviewBar } from './PreviewBar.tsx'

const task = taskOf(1, { status: 'running' })
const at = `/tasks/${task.id}/ports`
const vite = { port: 5173, process: 'vite' }
const unknown = { port: 3000, process: null }
const listing = (...ports: readonly unknown[]) => ({ ports, running: true, unavailable: null })
const opened = vi.fn<typeof window.open>()
const bar = () => screen.queryByRole('region', { name: 'Preview' })

beforeEach(() => {
  opened.mockReset()
  vi.stubGlobal('open', opened)
})

test('offers every port that listens, and opens one in a tab that knows nothing of this page', async () => {
  const url = 'http://x.localhost/.flightdeck-preview?ticket=t'
  const { server } = openPart(<PreviewBar task={task} />, {
    [`GET ${at}`]: listing(unknown, vite),
    [`POST ${at}/5173/open`]: { url },
  })
  const buttons = await screen.findAllByRole('button', { name: 'Open preview' })
  expect(bar()?.textContent).toContain('port 3000')
  expect(bar()?.textContent).toContain('vite on port 5173')
  fireEvent.click(buttons[1] ?? document.body)
  await waitFor(() => expect(opened).toHaveBeenCalledExactlyOnceWith(url, '_blank', 'noopener,noreferrer'))
  expect(server.of(`POST ${at}/5173/open`)).toHaveLength(1)
  expect(document.body.innerHTML).not.toContain('ticket')
})

test('a refusal opens nothing', async () => {
  const refused = vi.fn<() => Response>(() =>
    refusal(404, 'Nothing listens on port 5173 in the sandbox of this task.'),
  )
  openPart(<PreviewBar task={task} />, {
    [`GET ${at}`]: listing(vite),
    [`POST ${at}/5173/open`]: refused,
  })
  const button = await screen.findByRole('button', { name: 'Open preview' })
  fireEvent.click(button)
  await waitFor(() => expect(refused).toHaveBeenCalledOnce())
  await waitFor(() => expect(button).toHaveProperty('disabled', false))
  expect(opened).not.toHaveBeenCalled()
})

test('offline, nothing can be opened, and the bar says so', async () => {
  const { store } = openPart(<PreviewBar task={task} />, { [`GET ${at}`]: listing(vite) })
  const button = await screen.findByRole('button', { name: 'Open preview' })
  act(() => void store.dispatch(connectionChanged('disconnected')))
  expect(button).toHaveProperty('disabled', true)
  expect(screen.getByRole('status').textContent).toBe('Offline: previews cannot be opened now.')
})

test('says that the sandbox has ended only where there was something to see', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true })
  onTestFinished(() => void vi.useRealTimers())
  const ended = { ports: [], running: false, unavailable: null }
  const { server } = openPart(<PreviewBar task={task} />, { [`GET ${at}`]: ended })
  const next = async (answer: unknown) => {
    server.answer({ [`GET ${at}`]: answer })
    await act(() => vi.advanceTimersByTimeAsync(6_000))
  }
  await waitFor(() => expect(server.of(`GET ${at}`)).not.toHaveLength(0))
  expect(bar()).toBeNull()
  await next(listing(vite))
  await waitFor(() => expect(bar()).not.toBeNull())
  await next(ended)
  await screen.findByText('The sandbox has ended; send a message to start it again.')
  await next(listing())
  await waitFor(() => expect(bar()).toBeNull())
})
