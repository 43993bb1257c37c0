// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { openPage, openPart, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { taskOf } from '../../../../tests/client/samples.ts'
import { refusal } from '../../../../tests/client/server.ts'
import { useLogout } from '../auth/useLogout.ts'
import { RecentTasks } from '../dashboard/RecentTasks.tsx'
import { Toasts } from '../notifications/Toasts.tsx'
import { Deletions } from './Deletions.tsx'
import { useDelete } from './DeleteDialog.tsx'

const [task, other] = [taskOf(1), taskOf(2)]
const deleteCall = `DELETE /tasks/${task.id}`
const answers = { 'GET /tasks': { tasks: [task, other], next: null }, [deleteCall]: { success: true } }
const asAda = ['Bearer token-of-ada']

const row = (name: string) => screen.queryByRole('link', { name })
const toast = () => within(screen.getByRole('list', { name: 'Notifications' }))

test('a task is deleted after a question, and comes back by Undo', async () => {
  const server = openPage(`/tasks/${task.id}`, {
    answers: { ...answers, 'GET /agents': { agents: [] }, ...openTaskAnswers(task) },
  })
  await screen.findByRole('heading', { level: 1, name: 'Task 1' })
  const [menu] = screen.getAllByRole('button', { name: 'Task actions' })
  if (menu === undefined) throw new Error('There is no menu.')
  fireEvent.click(menu)
  fireEvent.click(await screen.findByRole('menuitem', { name: 'Delete Task' }))
  const question = within(await screen.findByRole('dialog', { name: 'Delete Task' }))
  expect(question.getByText('Are you sure you want to delete this task?')).toBeTruthy()
  fireEvent.click(question.getByRole('button', { name: 'Delete Task' }))
  // The toast stays while it is pointed at, however long the next page takes.
  fireEvent.pointerEnter(await toast().findByRole('listitem'))
  await screen.findByRole('link', { name: 'Task 2' })
  expect(row('Task 1')).toBeNull()
  fireEvent.click(await toast().findByRole('button', { name: 'Undo' }))
  expect(await screen.findByRole('link', { name: 'Task 1' })).toBeTruthy()
  expect(toast().queryByText('Task deleted')).toBeNull()
  window.dispatchEvent(new Event('pagehide'))
  expect(server.of(deleteCall)).toEqual([])
})

describe('what was deleted', () => {
  function Buttons() {
    const deleteForNow = useDelete()
    const logout = useLogout()
    return (
      <>
        <button onClick={() => deleteForNow('task', task.id)}>Delete it</button>
        <button onClick={logout}>Log out</button>
      </>
    )
  }

  /** The list after the first of its two tasks was deleted. */
  async function deleted() {
    const { server } = openPart(
      <>
        <Buttons />
        <RecentTasks />
        <Deletions />
        <Toasts />
      </>,
      answers,
    )
    await screen.findByRole('link', { name: 'Task 1' })
    fireEvent.click(screen.getByRole('button', { name: 'Delete it' }))
    expect(row('Task 1')).toBeNull()
    await toast().findByText('Task deleted')
    expect(server.of(deleteCall)).toEqual([])
    return server
  }

  test('is told to the server once its toast is gone, and stays away', async () => {
    const server = await deleted()
    fireEvent.click(toast().getByRole('button', { name: 'Dismiss' }))
    await waitFor(() => expect(server.of(deleteCall)).toHaveLength(1))
    window.dispatchEvent(new Event('pagehide'))
    expect(server.of(deleteCall)).toHaveLength(1)
    expect(row('Task 1')).toBeNull()
  })

  test('is told to the server when the page goes away, and cannot be undone then', async () => {
    const server = await deleted()
    window.dispatchEvent(new Event('pagehide'))
    expect(server.of(deleteCall).map(({ authorization }) => authorization)).toEqual(asAda)
    await waitFor(() => expect(toast().queryByRole('button', { name: 'Undo' })).toBeNull())
  })

  test('is told to the server before who deleted it is logged out', async () => {
    const server = await deleted()
    fireEvent.click(screen.getByRole('button', { name: 'Log out' }))
    expect(server.of(deleteCall).map(({ authorization }) => authorization)).toEqual(asAda)
  })

  test('comes back by its key', async () => {
    await deleted()
    fireEvent.keyDown(document.body, { key: 'z' })
    expect(await screen.findByRole('link', { name: 'Task 1' })).toBeTruthy()
  })

  test('comes back with the reason when the server refuses', async () => {
    const server = await deleted()
    server.answer({ [deleteCall]: () => refusal(503, 'Not now.') })
    fireEvent.click(toast().getByRole('button', { name: 'Dismiss' }))
    expect(await toast().findByText('Not now.')).toBeTruthy()
    expect(await screen.findByRole('link', { name: 'Task 1' })).toBeTruthy()
  })

  test('and is not known to the server any more stays away', async () => {
    const server = await deleted()
    server.answer({ [deleteCall]: () => refusal(404, 'There is no such task.') })
    fireEvent.click(toast().getByRole('button', { name: 'Dismiss' }))
    await waitFor(() => expect(server.of(deleteCall)).toHaveLength(1))
    expect(row('Task 1')).toBeNull()
    expect(toast().queryByText('There is no such task.')).toBeNull()
  })
})
