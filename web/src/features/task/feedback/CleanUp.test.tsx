// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { openPage, openTaskAnswers } from '../../../../../tests/client/page.tsx'
import { taskOf } from '../../../../../tests/client/samples.ts'
import { moment } from '../../../../../tests/domain/recorded.ts'

const at = `/tasks/${taskOf(1).id}`
const branch = 'flightdeck/greet-12345678'
const over = (state: 'open' | 'merged' | 'closed', more: Partial<Task> = {}) =>
  taskOf(1, {
    prUrl: 'https://code.example/ada/engine-1/pull/7',
    prNumber: 7,
    workingBranch: branch,
    status: 'completed',
    pullRequest: { state, mergedBy: null, mergedAt: null, unreadable: null },
    ...more,
  })
const outcome = (
  branchOutcome: NonNullable<Task['cleanUp']>['branch'],
  workspace: NonNullable<Task['cleanUp']>['workspace'],
) => ({ cleanUp: { at: moment, branch: branchOutcome, workspace } })

async function open(task: Task, answer?: Task) {
  const server = openPage(at, {
    answers: {
      ...openTaskAnswers(task),
      [`GET ${at}/feedback`]: { feedback: [], version: 1 },
      ...(answer ? { [`POST ${at}/cleanup`]: { task: answer } } : {}),
    },
  })
  await screen.findByRole('region', { name: 'Feedback on the pull request' })
  return server
}
const part = () => screen.getByRole('region', { name: 'Clean-up' })

describe('clean-up', () => {
  test('is not offered while the pull request is open', async () => {
    await open(over('open'))
    expect(screen.queryByRole('region', { name: 'Clean-up' })).toBeNull()
  })

  test('names what goes before it goes, and says what could not', async () => {
    const left = over('merged', { ...outcome('moved', 'removed'), version: 9 })
    const server = await open(over('merged'), left)
    fireEvent.click(within(part()).getByRole('button', { name: 'Clean up' }))
    const dialog = screen.getByRole('dialog', { name: 'Clean up after the pull request?' })
    expect(dialog.textContent).toContain(branch)
    expect(dialog.textContent).toContain('the workspace on the server')
    expect(server.of(`POST ${at}/cleanup`)).toHaveLength(0)
    fireEvent.click(within(dialog).getByRole('button', { name: 'Clean up' }))
    await waitFor(() => expect(part().textContent).toContain('somebody pushed to it'))
    expect(server.of(`POST ${at}/cleanup`)).toHaveLength(1)
    expect(within(part()).getByRole('button', { name: 'Try again' })).toBeTruthy()
  })

  test('that is done is said, and offered no more', async () => {
    await open(over('merged', outcome('gone', 'none')))
    expect(part().textContent).toContain('Branch and workspace are cleaned up.')
    expect(within(part()).queryByRole('button')).toBeNull()
  })

  test('says that there may be newer work where the task went on after the merge, and that it comes back', async () => {
    await open(over('merged', { laterWork: true }))
    expect(part().textContent).toContain('The workspace may hold newer work.')
    expect(part().textContent).not.toContain('no longer needed')
    fireEvent.click(within(part()).getByRole('button', { name: 'Clean up' }))
    const { textContent } = screen.getByRole('dialog', { name: 'Clean up after the pull request?' })
    expect(textContent).toContain('it stays if it holds work that is not saved')
    expect(textContent).toContain('Your next message brings the newer work back.')
    expect(textContent).not.toContain('starts from the base branch')
  })

  test('says that work is kept where nothing was merged', async () => {
    await open(over('closed'))
    expect(part().textContent).toContain('closed without a merge')
    expect(part().textContent).not.toContain('no longer needed')
  })

  test('that is done after later work says that it comes back', async () => {
    await open(over('merged', { laterWork: true, ...outcome('deleted', 'removed') }))
    expect(part().textContent).toContain('Your next message brings the saved work back.')
  })

  test('claims to know no more than it was told', async () => {
    await open(over('merged', outcome('unavailable', 'unreachable')))
    expect(part().textContent).toContain('It is not known whether the branch is still on GitHub')
    expect(part().textContent).toContain('The workspace may still be there')
    expect(part().textContent).not.toContain('kept')
  })
})
