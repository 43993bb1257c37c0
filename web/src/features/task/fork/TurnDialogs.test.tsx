// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { openPart } from '../../../../../tests/client/page.tsx'
import { taskOf } from '../../../../../tests/client/samples.ts'
import { refusal } from '../../../../../tests/client/server.ts'
import { selectNotifications } from '../../notifications/notifications.ts'
import { TurnDialogs } from './TurnDialogs.tsx'
import { texts } from './texts.ts'

const task = taskOf(1)
const link = 'https://code.example/orgs/acme/sso'
const why = `Open ${link}, then try again.`
const executionId = 'execution-1'
const preview = { files: [], total: 0, kept: [], undone: [executionId], redone: [], compared: true }
const open = (shows: 'undo' | 'undone') => {
  const onClose = vi.fn<() => void>()
  const onUndone = () => undefined
  const part = <TurnDialogs {...{ shows, task, executionId, onClose, onUndone }} agent={task.agent} />
  const { store } = openPart(part, {
    [`GET /tasks/${task.id}/undo/preview`]: preview,
    [`POST /tasks/${task.id}/undo`]: () => refusal(409, why),
  })
  return { onClose, told: () => selectNotifications(store.getState()) }
}

test('an undo that is refused says why in its dialog, with a link, and not behind it', async () => {
  const { onClose, told } = open('undo')
  await screen.findByText(texts.undo.noFiles)
  fireEvent.click(screen.getByRole('button', { name: texts.undo.confirm }))
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toBe(why)
  expect(within(alert).getByRole('link').getAttribute('href')).toBe(link)
  expect(told()).toEqual([])
  expect(onClose).not.toHaveBeenCalled()
})

test('a redo that is refused says why in a toast', async () => {
  const { told } = open('undone')
  fireEvent.click(screen.getByRole('button', { name: texts.undo.back }))
  await waitFor(() =>
    expect(told()).toMatchObject([{ type: 'error', title: texts.undo.failed, message: why }]),
  )
})
