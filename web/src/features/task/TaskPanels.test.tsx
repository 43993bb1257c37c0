// @vitest-environment jsdom
import { fireEvent, screen, within } from '@testing-library/react'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { taskOf } from '../../../../tests/client/samples.ts'

// A chunk without what it should hold cannot be used, like one that does not arrive.
vi.mock('./files/FilesPanel.tsx', () => ({}))
vi.mock('./history/historyChunk.ts', () => ({}))

// Loads the page before the first test waits for it: on a busy machine that takes a while.
beforeAll(async () => {
  // Another test file may have loaded the panels before.
  vi.resetModules()
  await import('../../../../tests/client/page.tsx')
  await import('./TaskDetail.tsx')
}, 60_000)

test.each(['Files', 'History'])(
  'the panel %s that fails to load offers another try, and after a second failure a reload of the page',
  async (name) => {
    const { openPage, openTaskAnswers } = await import('../../../../tests/client/page.tsx')
    const noted = () => undefined
    window.addEventListener('error', noted)
    onTestFinished(() => window.removeEventListener('error', noted))
    openPage(`/tasks/${taskOf(1).id}`, { answers: openTaskAnswers(taskOf(1)) })
    fireEvent.click(await screen.findByRole('tab', { name }))
    const panel = within(screen.getByRole('tabpanel', { name }))
    fireEvent.click(await panel.findByRole('button', { name: 'Try Again' }))
    expect(await panel.findByRole('button', { name: 'Reload' })).toBeTruthy()
    expect(panel.getByText('This panel could not be loaded')).toBeTruthy()
  },
)
