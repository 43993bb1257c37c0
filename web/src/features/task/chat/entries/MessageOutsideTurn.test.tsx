// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openPart } from '../../../../../../tests/client/page.tsx'
import { messageOf } from '../../../../../../tests/client/samples.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { ReplayContext, type Replayed } from '../../replayContext.ts'
import { MessageOutsideTurn } from './MessageOutsideTurn.tsx'

/** A command that a person ran. */
function command(over: Partial<MessageDocument>): MessageDocument {
  const { id: messageId, images: _images, attachments: _attachments, ...said } = messageOf(1)
  const words = {
    message: 'npm test',
    commandText: 'npm test',
    isCommand: true,
    messageType: 'command',
  } as const
  return { ...said, ...words, id: messageId, messageId, images: [], order: '1', ...over }
}

test.each([
  ['completed', 'exit 0', 'Completed'],
  ['failed', 'exit 3', 'Failedexit 3'],
  ['failed', 'exit 3\nwhat it printed\nis in the terminal', 'Failedexit 3'],
  ['cancelled', 'exit 130', 'Cancelled'],
] as const)(
  'a command that is %s says so once, with what else there is to know',
  (status, response, said) => {
    const message = command({ status, commandStatus: status, response })
    openPart(
      <MessageOutsideTurn
        entry={{ kind: 'message', key: 'm', at: message.createdAt, message, grouped: false }}
        taskId={message.task}
      />,
    )
    const article = document.querySelector('article')
    const fates = [...(article?.querySelectorAll('[data-status]') ?? [])]
    expect(fates).toHaveLength(1)
    expect(fates[0]?.parentElement?.parentElement?.textContent).toBe(said)
  },
)

const replayed: Replayed = {
  now: 0,
  changesAt: null,
  changes: async () => ({ reason: '' }),
  Dock: () => null,
  Changes: () => null,
}

test.each([
  ['live', null, ['Copy Text', 'Delete Task']],
  ['replayed', replayed, ['Copy Text']],
] as const)('the menu of a %s message offers what can be done then', (_when, value, offered) => {
  const message = command({ status: 'completed' })
  openPart(
    <ReplayContext value={value}>
      <MessageOutsideTurn
        entry={{ kind: 'message', key: 'm', at: message.createdAt, message, grouped: false }}
        taskId={message.task}
      />
    </ReplayContext>,
  )
  fireEvent.click(screen.getByRole('button', { name: 'Message menu' }))
  expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual(offered)
})
