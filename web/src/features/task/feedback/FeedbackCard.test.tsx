// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import type { ShownFeedback } from '#domain/api/feedback.schema.ts'
import { openPage, openTaskAnswers } from '../../../../../tests/client/page.tsx'
import { taskOf } from '../../../../../tests/client/samples.ts'
import { refusal, type Answers } from '../../../../../tests/client/server.ts'
import { moment } from '../../../../../tests/domain/recorded.ts'

const id = '00000000-0000-4000-9000-000000000001'
const task = taskOf(1, {
  prUrl: 'https://code.example/ada/engine-1/pull/7',
  prNumber: 7,
  pullRequest: { state: 'open', mergedBy: null, mergedAt: null, unreadable: null },
})
const at = `/tasks/${task.id}`
const card = `${at}/feedback/${id}`

function review(over: Partial<ShownFeedback> = {}): ShownFeedback {
  return {
    id,
    kind: 'review',
    status: 'open',
    right: 'write',
    isKnown: true,
    verdict: 'changes_requested',
    writtenAt: moment,
    receivedAt: moment,
    number: 7,
    author: { id: '9', login: 'grace' },
    url: null,
    headCommit: 'a'.repeat(40),
    reviewId: '1',
    commentId: null,
    body: 'Please shorten it.',
    comments: [],
    check: null,
    isStale: false,
    canBeSent: true,
    messageId: null,
    isAutomatic: false,
    answer: 'none',
    answerRefused: null,
    commit: null,
    isResolved: false,
    position: '1',
    version: 1,
    ...over,
  }
}

async function open(feedback: ShownFeedback, answers: Answers = {}) {
  const server = openPage(at, {
    answers: {
      ...openTaskAnswers(task),
      [`GET ${at}/feedback`]: { feedback: [feedback], version: 1 },
      [`GET ${card}/message`]: { message: 'grace asked for changes' },
      ...answers,
    },
  })
  await screen.findByRole('article', { name: 'Changes requested: grace' })
  return server
}
const shown = () => within(screen.getByRole('article', { name: 'Changes requested: grace' }))
const press = (name: string) => fireEvent.click(shown().getByRole('button', { name }))
const editor = () => shown().findByRole('textbox', { name: 'The message to the agent' })
const shownEditor = () => shown().queryByRole('textbox', { name: 'The message to the agent' })

describe('a message to the agent that was edited', () => {
  const written = 'Shorten it, and keep the greeting'
  const edit = async (text = written) => {
    press('Edit first')
    fireEvent.change(await editor(), { target: { value: text } })
  }
  /** As a reload, or another page and back. */
  const comeBack = async (answers: Answers = {}) => {
    window.dispatchEvent(new Event('pagehide'))
    cleanup()
    return open(review(), answers)
  }

  test('outlives the page, until it is sent', async () => {
    await open(review())
    await edit()
    const sent = { feedback: review({ status: 'sent' }), task }
    const server = await comeBack({ [`POST ${card}/send`]: () => refusal(503, 'Not just now.') })
    expect(await editor()).toHaveProperty('value', written)
    press('Send to agent')
    await screen.findByText('Not just now.')
    expect(await editor()).toHaveProperty('value', written)
    server.answer({ [`POST ${card}/send`]: sent })
    press('Send to agent')
    await waitFor(() => expect(server.of(`POST ${card}/send`)).toHaveLength(2))
    expect(server.of(`POST ${card}/send`)[1]?.body).toEqual({ message: written })
    await waitFor(() => expect(shownEditor()).toBeNull())
    await comeBack()
    expect(shownEditor()).toBeNull()
    expect(shown().getByRole('button', { name: 'Edit first' })).toBeTruthy()
  })

  test('is forgotten once it is dismissed', async () => {
    const server = await open(review(), { [`POST ${card}/dismiss`]: { feedback: review() } })
    await edit()
    press('Dismiss')
    await waitFor(() => expect(shownEditor()).toBeNull())
    expect(server.of(`POST ${card}/dismiss`)).toHaveLength(1)
    await comeBack()
    expect(shownEditor()).toBeNull()
  })

  test('is forgotten once the edit is cancelled', async () => {
    await open(review())
    await edit()
    press('Cancel')
    await comeBack()
    expect(shownEditor()).toBeNull()
  })
})

describe('an answer that GitHub did not take', () => {
  const failed = review({
    status: 'sent',
    canBeSent: false,
    answer: 'failed',
    answerRefused: 'You may not write here.',
    commit: 'd'.repeat(40),
  })

  test('is given again by a button', async () => {
    const due = { ...failed, answer: 'due' as const, answerRefused: null }
    const server = await open(failed, { [`POST ${card}/answer`]: { feedback: due } })
    expect(shown().getByText('GitHub took no answer: You may not write here.')).toBeTruthy()
    server.answer({ [`GET ${at}/feedback`]: { feedback: [due], version: 2 } })
    press('Answer again')
    await shown().findByText('The work is published. The answer follows.')
    expect(server.of(`POST ${card}/answer`)).toHaveLength(1)
    expect(shown().queryByRole('button', { name: 'Answer again' })).toBeNull()
  })

  test('says why where that is refused, and can be tried once more', async () => {
    await open(failed, { [`POST ${card}/answer`]: () => refusal(403, 'Connect your GitHub account first.') })
    press('Answer again')
    await screen.findByText('Connect your GitHub account first.')
    expect(shown().getByRole('button', { name: 'Answer again' })).toHaveProperty('disabled', false)
  })

  test.each(['none', 'due', 'answered'] as const)('is not offered where the answer is %s', async (answer) => {
    await open(review({ status: 'sent', answer }))
    expect(shown().queryByRole('button', { name: 'Answer again' })).toBeNull()
  })
})
