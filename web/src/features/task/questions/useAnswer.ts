/** Keeps the draft of an answer to a question, and sends the answer. */
import { useMemo, useRef, useState } from 'react'
import type { AnswerInput } from '#domain/api/questions.schema.ts'
import type { QuestionDocument } from '#domain/views/questions.ts'
import { isFault, reasonOf } from '../../../api/fault.ts'
import { newId } from '../../../api/newId.ts'
import { useAppDispatch } from '../../../state/hooks.ts'
import { answerDrafts } from '../../../state/persisted.ts'
import { useDraft } from '../../../state/useDraft.ts'
import { taskApi } from '../taskApi.ts'
import { questionsLoaded, questionTaken } from '../taskSlice.ts'
import { emptyDraft, readDraft, writeDraft, type AnswerDraft } from './answerDraft.ts'
import { useAnswerQuestionMutation } from './questionsApi.ts'
import { texts } from './texts.ts'

export type Answering = ReturnType<typeof useAnswer>

/** `onSent` is called before the card changes, so that the card can take the focus. */
export function useAnswer({ task: taskId, questionId }: QuestionDocument, onSent: () => void) {
  const dispatch = useAppDispatch()
  const [stored, store] = useDraft(answerDrafts, `${taskId} ${questionId}`)
  const draft = useMemo(() => readDraft(stored), [stored])
  const [post, { isLoading, error }] = useAnswerQuestionMutation()
  /** The last answer that was sent, with the idempotency key that all attempts to send it share. */
  const last = useRef({ body: '', key: '' })
  const [by, setBy] = useState('')
  const [isLate, setLate] = useState(false)

  const edit = (part: Partial<AnswerDraft>) =>
    store((before) => writeDraft({ ...readDraft(before), ...part }))
  const readAgain = async () => {
    const query = { taskId, minPosition: undefined }
    const fresh = { forceRefetch: true, subscribe: false } as const
    const { data } = await dispatch(taskApi.endpoints.questions.initiate(query, fresh))
    if (data !== undefined) dispatch(questionsLoaded({ ...data, taskId }))
  }
  const send = async (answer: AnswerInput, button: string) => {
    if (isLoading) return
    const body = JSON.stringify(answer)
    if (last.current.body !== body) last.current = { body, key: newId() }
    setBy(button)
    const taken = await post({ taskId, questionId, answer, key: last.current.key })
    if (taken.data !== undefined) {
      onSent()
      store('')
      dispatch(questionTaken({ taskId, question: taken.data.question }))
    } else if (isFault(taken.error, 'already_answered') || isFault(taken.error, 'question_withdrawn')) {
      onSent()
      setLate(true)
      await readAgain()
    }
  }
  return {
    draft,
    edit,
    discard: () => store(writeDraft(emptyDraft)),
    /** Sends an answer; `button` names the button that shows a spinner meanwhile. */
    send: (answer: AnswerInput, button = 'send') => void send(answer, button),
    sendingBy: isLoading ? by : null,
    /** Whether the answer came too late: somebody else answered before, or the question was withdrawn. */
    isLate,
    refusal: error === undefined || isLate || isLoading ? null : reasonOf(error, texts.notSent),
  }
}

/** The props of the component that answers questions of one kind. */
export interface AnswerProps {
  readonly question: QuestionDocument
  readonly answering: Answering
}
