/** The outcome of a question: the answer that counts, who gave it and when, and whether the agent got it. */
import { Ban, ChevronRight, CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { QuestionDocument } from '#domain/views/questions.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { classes } from '../../../ui/classes.ts'
import { clockTime } from '../../../ui/text/times.ts'
import { useMeQuery } from '../../auth/authApi.ts'
import { MarkdownText } from '../chat/entries/MessageBody.tsx'
import { personName } from '../chat/entries/MessageOutsideTurn.tsx'
import { writtenIn } from './answerDraft.ts'
import { AskedContent } from './AskedContent.tsx'
import { texts } from './texts.ts'
import type { Answering } from './useAnswer.ts'

interface SettledProps {
  readonly question: QuestionDocument
  /** The person's own answer and its state; `null` in a replay, where nothing is answered. */
  readonly answering: Answering | null
}

export function SettledQuestion({ question, answering }: SettledProps) {
  const [isShown, setShown] = useState(false)
  const { kind, status, body, options, fields } = question
  const hasMore = (body ?? '') !== '' || (kind === 'question' && options.length > 0) || fields.length > 0
  return (
    <>
      {status === 'withdrawn' ? (
        <p className="flex items-start gap-1.5 text-muted">
          <Ban className="mt-0.5 size-3.5 flex-none" />
          {texts.settled.withdrawn}
        </p>
      ) : (
        <Answered question={question} />
      )}
      {answering !== null && <Unsent question={question} answering={answering} />}
      {hasMore && (
        <button
          type="button"
          aria-expanded={isShown}
          onClick={() => setShown(!isShown)}
          className="focus-inset -mx-1 flex min-h-11 items-center gap-1.5 justify-self-start rounded-control px-1 text-meta text-muted hover:text-text md:min-h-6"
        >
          <ChevronRight className={classes('size-3 transition-transform', isShown && 'rotate-90')} />
          {isShown ? texts.settled.hide : texts.settled.show[kind]}
        </button>
      )}
      {isShown && <AskedContent question={question} />}
    </>
  )
}

function Answered({ question }: { readonly question: QuestionDocument }) {
  const { data } = useMeQuery()
  const { kind, options, fields, answer, answeredAt, delivery, isDelivered } = question
  if (answer === null) return <p className="text-muted">{texts.settled.erasedAnswer}</p>
  const isOptions = kind === 'question'
  const labelOf = (value: string) =>
    (isOptions ? undefined : texts.settled.answers[value]) ??
    options.find((option) => option.value === value)?.label ??
    value
  const isNo = answer.choices.some((value) => !isOptions && /^(?:deny|send_back|decline)$/.test(value))
  return (
    <div className="grid gap-1.5" data-searched="">
      {answer.choices.length > 0 && (
        <p
          className={classes(
            'flex items-start gap-1.5 font-medium wrap-anywhere',
            isNo ? 'text-warn' : 'text-ok',
          )}
        >
          {isNo ? (
            <Ban className="mt-0.5 size-3.5 flex-none" />
          ) : (
            <CircleCheck className="mt-0.5 size-3.5 flex-none" />
          )}
          <span className={isOptions ? 'text-text' : undefined}>
            {answer.choices.map(labelOf).join(', ')}
          </span>
        </p>
      )}
      {answer.text !== '' &&
        (kind === 'plan' ? (
          <MarkdownText text={answer.text} />
        ) : (
          <p className="wrap-anywhere whitespace-pre-wrap">{answer.text}</p>
        ))}
      {answer.values.length > 0 && (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1">
          {answer.values.map(({ name, value }) => (
            <div key={name} className="contents">
              <dt className="text-muted">{fields.find((field) => field.name === name)?.label ?? name}</dt>
              <dd className="wrap-anywhere">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <p className="text-meta text-muted">
        {`${texts.settled.by} ${personName(data?.user)}`}
        {answeredAt !== null && `, ${clockTime(answeredAt)}`}
        {' · '}
        {delivery === 'next_turn'
          ? texts.settled.nextTurn
          : isDelivered
            ? texts.settled.given
            : texts.settled.onItsWay}
      </p>
    </div>
  )
}

/** Text that the person wrote but that did not become the answer, because another answer came first or the question was withdrawn. */
function Unsent({ question, answering }: SettledProps & { readonly answering: Answering }) {
  const { draft, isLate, discard } = answering
  const written = writtenIn(draft)
  if (!isLate && written === '') return null
  const why = question.status === 'withdrawn' ? texts.settled.lateWithdrawn : texts.settled.late
  return (
    <div role="status" className="grid gap-1.5 border-l-2 border-warn pl-3">
      <p>{why}</p>
      {written !== '' && (
        <>
          <p className="text-meta text-muted">{texts.settled.unsent}</p>
          <p className="wrap-anywhere whitespace-pre-wrap">{written}</p>
          <Button size="small" className="justify-self-start" onClick={discard}>
            {texts.settled.discard}
          </Button>
        </>
      )}
    </div>
  )
}
