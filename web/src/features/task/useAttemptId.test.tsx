// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { expect, test } from 'vitest'
import { openPart } from '../../../../tests/client/page.tsx'
import { taskOf } from '../../../../tests/client/samples.ts'
import { selectNotifications } from '../notifications/notifications.ts'
import { AddRunDialog } from './compare/AddRunDialog.tsx'
import { texts as compareTexts } from './compare/texts.ts'
import { ForkDialog } from './fork/ForkDialog.tsx'
import { texts as forkTexts } from './fork/texts.ts'

const task = taskOf(1)
const ignore = () => undefined
const run = <AddRunDialog original={task} onClose={ignore} />
const fork = <ForkDialog taskId={task.id} executionId="e1" agent="claude" title="Task 1" onClose={ignore} />
const dialogs: readonly (readonly [path: string, ReactNode, { confirm: string; failed: string }])[] = [
  ['alternatives', run, compareTexts.dialog],
  ['fork', fork, forkTexts.fork],
]

test.each(dialogs)(
  'a request for %s whose answer was lost keeps its id and its key until something else is sent',
  async (path, dialog, { confirm, failed }) => {
    const call = `POST /tasks/${task.id}/${path}`
    const { server, store } = openPart(dialog, {
      'GET /agents': { agents: [] },
      [call]: () => Promise.reject(new TypeError('Failed to fetch')),
    })
    for (const [index, text] of ['Count', 'Count', 'Count twice'].entries()) {
      fireEvent.change(screen.getByRole('textbox', { name: 'Message' }), { target: { value: text } })
      fireEvent.click(screen.getByRole('button', { name: confirm }))
      await waitFor(() => expect(server.of(call)).toHaveLength(index + 1))
      // The dialog tells it itself: a toast would be behind it, out of reach.
      expect((await screen.findByRole('alert')).textContent).toBe(failed)
      expect(selectNotifications(store.getState())).toEqual([])
    }
    const [first, again, other] = server.of(call)
    expect(again).toEqual(first)
    expect(first?.body).toMatchObject({ id: first?.key })
    expect(other?.body).toMatchObject({ id: other?.key })
    expect(other?.key).not.toBe(first?.key)
  },
)
