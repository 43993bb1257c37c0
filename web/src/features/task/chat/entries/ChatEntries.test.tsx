// @vitest-environment jsdom
import { cleanup, render } from '@testing-library/react'
import { Provider } from 'react-redux'
import { MemoryRouter } from 'react-router-dom'
import { expect, onTestFinished, test } from 'vitest'
import { executionId } from '../../../../../../tests/domain/ids.ts'
import { clientStore } from '../../../../../../tests/client/page.tsx'
import { messageOf, taskOf } from '../../../../../../tests/client/samples.ts'
import { fakeServer } from '../../../../../../tests/client/server.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { ActionsProvider } from '../../../../actions/ActionsContext.tsx'
import { ChatEntries } from './ChatEntries.tsx'
import type { TurnEntry } from '../chatTimeline.ts'

const task = taskOf(1)

/** A turn in which the agent wrote a long message. */
function turn(n: number): TurnEntry {
  const { id: messageId, images: _images, attachments: _attachments, ...said } = messageOf(n)
  const message: MessageDocument = {
    ...said,
    id: messageId,
    messageId,
    images: [],
    message: 'x'.repeat(400),
    messageType: 'response',
    order: String(n),
  }
  return {
    kind: 'turn',
    key: executionId(n),
    at: message.createdAt,
    agent: 'claude',
    status: 'completed',
    live: false,
    parts: [{ kind: 'text', key: message.messageId, order: message.order, message }],
    partial: false,
  }
}

test('what was read while it was written is cut once another turn follows, and not under the eyes of who reads further up', () => {
  fakeServer({})
  const store = clientStore()
  const page = (count: number, following: boolean) => (
    <Provider store={store}>
      <MemoryRouter>
        <ActionsProvider>
          <ChatEntries
            entries={Array.from({ length: count }, (_, index) => turn(index + 1))}
            task={task}
            following={following}
            wasSeen={() => true}
            onResend={() => undefined}
            onDiscard={() => undefined}
          />
        </ActionsProvider>
      </MemoryRouter>
    </Provider>
  )
  const { container, rerender } = render(page(1, true))
  onTestFinished(cleanup)
  const open = () =>
    [...container.querySelectorAll('article')].map(({ textContent }) => textContent.includes('Show less'))
  expect(open()).toEqual([true])
  rerender(page(2, true))
  expect(open()).toEqual([false, true])
  rerender(page(3, false))
  expect(open()).toEqual([false, true, true])
  rerender(page(3, true))
  expect(open()).toEqual([false, false, true])
})
