// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { sortKey } from '#domain/kernel/event.ts'
import { questionDocumentId } from '#domain/views/questions.ts'
import { openPart } from '../../../../../tests/client/page.tsx'
import { questionOf, taskOf } from '../../../../../tests/client/samples.ts'
import { refusal } from '../../../../../tests/client/server.ts'
import { questionsLoaded, selectOpenTask, taskOpened } from '../taskSlice.ts'
import { useAnswer } from './useAnswer.ts'

const { id: taskId } = taskOf(1)
const { id: questionId, ...question } = questionOf(1)
const asked = {
  ...question,
  id: questionDocumentId(taskId, questionId),
  questionId,
  task: taskId,
  order: sortKey(question.position),
}

function Answer() {
  const { send } = useAnswer(asked, () => undefined)
  return (
    <button type="button" onClick={() => send({ choices: ['red'] })}>
      Answer
    </button>
  )
}

test('an answer that came too late leaves alone the questions of the task that is open by then', async () => {
  const at = `/tasks/${taskId}/questions`
  let answers = (_questions: unknown) => {}
  const { server, store } = openPart(<Answer />, {
    [`POST ${at}/${questionId}/answer`]: () => refusal(409, 'It was answered.', 'already_answered'),
    [`GET ${at}`]: () => new Promise((resolve) => (answers = resolve)),
  })
  fireEvent.click(screen.getByRole('button', { name: 'Answer' }))
  await waitFor(() => expect(server.of(`GET ${at}`)).toHaveLength(1))
  const other = taskOf(2).id
  act(() => {
    store.dispatch(taskOpened(other))
    store.dispatch(questionsLoaded({ taskId: other, questions: [questionOf(2)], version: 1 }))
  })
  await act(async () => answers({ questions: [questionOf(1)], version: 50 }))
  expect(Object.values(selectOpenTask(store.getState()).questions.documents)).toMatchObject([
    { title: 'Question 2?' },
  ])
})
