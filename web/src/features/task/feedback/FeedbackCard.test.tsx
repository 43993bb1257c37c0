// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import type { ShownFeedback } from '#domain/api/feedback.schema.ts'
import { openPage, openPart, openTaskAnswers } from '../../../../../tests/client/page.tsx'
import { messageOf, taskOf } from '../../../../../tests/client/samples.ts'
import { refusal, type Answers } from '../../../../../tests/client/server.ts'
import { messageId } from '../../../../../tests/domain/ids.ts'
import { moment } from '../../../../../tests/domain/recorded.ts'
import { connectionChanged } from '../../../live/connection.ts'
import { FeedbackCards } from './FeedbackCards.tsx'

const id = '00000000-0000-4000-9000-000000000001'
const isOpen = { state: 'open', mergedBy: null, mergedAt: null, unreadable: null } as const
const task = taskOf(1, {
  prUrl: 'https://code.example/ada/engine-1/pull/7',
  prNumber: 7,
  pullRequest: isOpen,
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
  /** Reloads the page, or leaves it and comes back. */
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

  test('is there again when a dismissal is undone', async () => {
    const dismissed = review({ status: 'dismissed' })
    const server = await open(review(), {
      [`POST ${card}/dismiss`]: { feedback: dismissed },
      [`POST ${card}/restore`]: { feedback: review() },
    })
    await edit()
    server.answer({ [`GET ${at}/feedback`]: { feedback: [dismissed], version: 2 } })
    press('Dismiss')
    const undo = await screen.findByRole('button', { name: 'Undo' })
    server.answer({ [`GET ${at}/feedback`]: { feedback: [review()], version: 3 } })
    fireEvent.click(undo)
    await screen.findByRole('article', { name: 'Changes requested: grace' })
    expect(await editor()).toHaveProperty('value', written)
  })

  test('stays on the screen when the head moves on, until the edit is cancelled', async () => {
    const headCommit = 'a'.repeat(40)
    const standing = { review: null, checks: null, checksReadable: true, headCommit }
    const onHead = taskOf(1, { ...task, pullRequest: { ...isOpen, standing } })
    const other = review({ id: '00000000-0000-4000-9000-000000000002' })
    const check = {
      id: '1',
      name: 'Build',
      conclusion: 'failure',
      summary: '',
      annotations: [],
      log: null,
      isLogCut: false,
    }
    const failed = review({ kind: 'check', verdict: null, author: null, check, headCommit })
    const server = await open(other, {
      ...openTaskAnswers(onHead),
      [`GET ${at}/feedback`]: { feedback: [failed, other], version: 1 },
      [`POST ${at}/feedback/${other.id}/dismiss`]: { feedback: { ...other, status: 'dismissed' } },
    })
    const name = 'Check Build failed'
    fireEvent.click(within(screen.getByRole('article', { name })).getByRole('button', { name: 'Edit first' }))
    fireEvent.change(await screen.findByRole('textbox', { name: 'The message to the agent' }), {
      target: { value: written },
    })
    const ofEarlier = { ...failed, headCommit: 'b'.repeat(40) }
    server.answer({ [`GET ${at}/feedback`]: { feedback: [ofEarlier], version: 2 } })
    press('Dismiss')
    await waitFor(() => expect(screen.queryByRole('article', { name: /grace/ })).toBeNull())
    const found = within(screen.getByRole('article', { name }))
    expect(found.getByRole('textbox', { name: 'The message to the agent' })).toHaveProperty('value', written)
    fireEvent.click(found.getByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(screen.queryByRole('article', { name })).toBeNull())
  })

  describe('while it was sent without that', () => {
    const lead = 'This was sent while you were editing'
    const sent = review({ status: 'sent', isAutomatic: true, canBeSent: false })
    const other = review({
      id: '00000000-0000-4000-9000-000000000002',
      verdict: null,
      author: { id: '10', login: 'linus' },
    })
    const openBoth = (answers: Answers = {}) =>
      open(review(), {
        [`GET ${at}/feedback`]: { feedback: [review(), other], version: 1 },
        [`POST ${at}/feedback/${other.id}/dismiss`]: { feedback: { ...other, status: 'dismissed' } },
        ...answers,
      })
    /** Makes the page read the feedback again, which includes what others did meanwhile. */
    const hear = (server: Awaited<ReturnType<typeof open>>) => {
      server.answer({ [`GET ${at}/feedback`]: { feedback: [sent], version: 2 } })
      const card = within(screen.getByRole('article', { name: 'Comment: linus' }))
      fireEvent.click(card.getByRole('button', { name: 'Dismiss' }))
    }

    test('stays, also after a reload, with the focus where it was, until it is discarded', async () => {
      const server = await openBoth()
      await edit()
      const field = await editor()
      field.focus()
      hear(server)
      await shown().findByText(new RegExp(`^${lead}`))
      expect(shownEditor()).toBe(field)
      expect(document.activeElement).toBe(field)
      expect(shown().queryByRole('button', { name: 'Send to agent' })).toBeNull()

      window.dispatchEvent(new Event('pagehide'))
      cleanup()
      await open(sent)
      expect(await editor()).toHaveProperty('value', written)
      press('Discard text')
      expect(shownEditor()).toBeNull()
      expect(shown().queryByText(new RegExp(`^${lead}`))).toBeNull()
      expect(document.activeElement?.getAttribute('aria-label')).toBe('Changes requested: grace')
    })

    test('is not said of words that nobody wrote, as they came to be edited', async () => {
      let answer: (body: unknown) => void = () => undefined
      const asked = new Promise((resolve) => (answer = resolve))
      const { server, store } = openPart(<FeedbackCards task={task} />, {
        [`GET ${at}/feedback`]: { feedback: [review()], version: 1 },
        [`GET ${card}/message`]: () => asked,
      })
      await screen.findByRole('article', { name: 'Changes requested: grace' })
      press('Edit first')
      server.answer({ [`GET ${at}/feedback`]: { feedback: [sent], version: 2 } })
      act(() => void store.dispatch(connectionChanged('connected')))
      await shown().findByText('Sent by the rule of the project.')
      answer({ message: 'grace asked for changes' })
      await act(async () => asked)
      expect(shownEditor()).toBeNull()
      expect(shown().queryByText(new RegExp(`^${lead}`))).toBeNull()
    })

    test('is kept where it was typed as the message was on its way', async () => {
      let answer: (body: unknown) => void = () => undefined
      const asked = new Promise((resolve) => (answer = resolve))
      const server = await openBoth({ [`POST ${card}/send`]: () => asked })
      await edit()
      press('Send to agent')
      await shown().findByRole('button', { name: 'Sending...' })
      fireEvent.change(await editor(), { target: { value: `${written}, please` } })
      server.answer({ [`GET ${at}/feedback`]: { feedback: [sent], version: 2 } })
      answer({ feedback: sent, task })
      await shown().findByText(new RegExp(`^${lead}`))
      expect(shownEditor()).toHaveProperty('value', `${written}, please`)
    })

    test('is not said of what this page is sending itself, though the news of that come first', async () => {
      let answer: (body: unknown) => void = () => undefined
      const asked = new Promise((resolve) => (answer = resolve))
      const { server, store } = openPart(<FeedbackCards task={task} />, {
        [`GET ${at}/feedback`]: { feedback: [review()], version: 1 },
        [`GET ${card}/message`]: { message: 'grace asked for changes' },
        [`POST ${card}/send`]: () => asked,
      })
      await screen.findByRole('article', { name: 'Changes requested: grace' })
      await edit()
      press('Send to agent')
      await shown().findByRole('button', { name: 'Sending...' })
      server.answer({ [`GET ${at}/feedback`]: { feedback: [sent], version: 2 } })
      act(() => void store.dispatch(connectionChanged('connected')))
      await shown().findByText('Sent by the rule of the project.')
      expect(shown().queryByText(new RegExp(`^${lead}`))).toBeNull()
      answer({ feedback: sent, task })
      await waitFor(() => expect(shownEditor()).toBeNull())
    })
  })

  test('is forgotten once the edit is cancelled', async () => {
    await open(review())
    await edit()
    press('Cancel')
    await comeBack()
    expect(shownEditor()).toBeNull()
  })
})

test('a message that was withdrawn is not given to the agent with the feedback', async () => {
  const withdrawal = `DELETE ${at}/chat/${messageId(1)}`
  let answer: (body: unknown) => void = () => undefined
  const server = await open(review(), {
    [`GET ${at}/chat`]: { messages: [messageOf(1, { status: 'queued' })], version: 1 },
    [withdrawal]: new Promise((resolve) => (answer = resolve)),
    [`POST ${card}/send`]: { feedback: review({ status: 'sent' }), task },
  })
  fireEvent.click(await screen.findByRole('button', { name: 'Withdraw' }))
  press('Send to agent')
  await waitFor(() => expect(server.of(withdrawal)).toHaveLength(1))
  expect(server.of(`POST ${card}/send`)).toEqual([])
  answer({ success: true, position: '9' })
  await waitFor(() => expect(server.of(`POST ${card}/send`)).toHaveLength(1))
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
    expect(shown().getByText("Couldn't reply on GitHub: You may not write here.")).toBeTruthy()
    server.answer({ [`GET ${at}/feedback`]: { feedback: [due], version: 2 } })
    press('Answer again')
    await shown().findByText('The work is published. The answer follows.')
    expect(server.of(`POST ${card}/answer`)).toHaveLength(1)
    expect(shown().queryByRole('button', { name: 'Answer again' })).toBeNull()
  })

  test('keeps the focus on its button meanwhile, which nobody is read as news', async () => {
    let answer: (body: unknown) => void = () => undefined
    const asked = new Promise((resolve) => (answer = resolve))
    const server = await open(failed, { [`POST ${card}/answer`]: () => asked })
    const button = shown().getByRole('button', { name: 'Answer again' })
    expect(button.closest('[role=status]')).toBeNull()
    button.focus()
    fireEvent.click(button)
    await shown().findByRole('button', { name: 'Answering...' })
    expect(button).toHaveProperty('disabled', false)
    fireEvent.click(button)
    expect(server.of(`POST ${card}/answer`)).toHaveLength(1)
    answer({ feedback: failed })
    await shown().findByRole('button', { name: 'Answer again' })
    expect(document.activeElement).toBe(button)
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

test('shows the lines of the diff as in the changes, and all that the code host sent of them', async () => {
  const hunk = '@@ -1,2 +1,2 @@\n # Engine\n-It counts.\n+It adds.\n\n'
  const comment = {
    id: '3',
    threadId: '3',
    path: 'README.md',
    line: 2,
    startLine: null,
    isOutdated: false,
    hunk,
    body: 'Does it?',
  }
  await open(review({ comments: [comment] }))
  const lines = shown().getByRole('region', { name: 'Lines of the diff' })
  expect(lines.textContent).toBe(hunk)
  const colourOf = (line: string) => within(lines).getByText(line).className
  expect(colourOf('-It counts.')).toContain('bg-del-bg')
  expect(colourOf('+It adds.')).toContain('bg-add-bg')
  expect(colourOf('# Engine')).not.toMatch(/bg-/)
})

test('a page without all of the feedback says so, and where the rest is', async () => {
  openPart(<FeedbackCards task={task} />, {
    [`GET ${at}/feedback`]: { feedback: [review()], more: true, version: 1 },
  })
  const link = await screen.findByRole('link', { name: 'See all of it on GitHub' })
  expect(link.getAttribute('href')).toBe('https://code.example/ada/engine-1/pull/7')
  expect(link.parentElement?.textContent).toBe('Not all feedback is shown here. See all of it on GitHub')
})
