/** A question of an agent, at the place in the chat where the agent asked it: either with the means to answer, or with its outcome. */
import {
  CircleQuestionMark,
  ClipboardList,
  ClipboardCheck,
  ShieldQuestionMark,
  type LucideIcon,
} from 'lucide-react'
import { useRef, useState, type ReactNode, type Ref } from 'react'
import { useSelector } from 'react-redux'
import type { QuestionKind } from '#domain/task/questionEvents.ts'
import type { QuestionDocument } from '#domain/views/questions.ts'
import { selectLost } from '../../../live/connection.ts'
import { classes } from '../../../ui/classes.ts'
import { Note } from '../../../ui/layout/Note.tsx'
import { clockTime } from '../../../ui/text/times.ts'
import { useReplayed } from '../replayContext.ts'
import { AskedContent } from './AskedContent.tsx'
import { FormAnswer } from './FormAnswer.tsx'
import { PermissionAnswer } from './PermissionAnswer.tsx'
import { PlanAnswer } from './PlanAnswer.tsx'
import { QuestionAnswer } from './QuestionAnswer.tsx'
import { SettledQuestion } from './SettledQuestion.tsx'
import { texts } from './texts.ts'
import { useAnswer, type AnswerProps } from './useAnswer.ts'
import { onChoiceKey } from './choiceKeys.ts'

export function QuestionCard({ question }: { readonly question: QuestionDocument }) {
  return useReplayed() === null ? <LiveCard question={question} /> : <ShownCard question={question} />
}

const answers = {
  question: QuestionAnswer,
  plan: PlanAnswer,
  permission: PermissionAnswer,
  form: FormAnswer,
} satisfies Readonly<Record<QuestionKind, (props: AnswerProps) => ReactNode>>

function LiveCard({ question }: { readonly question: QuestionDocument }) {
  const card = useRef<HTMLElement>(null)
  // The buttons disappear with the answer, so the card gets the focus.
  const answering = useAnswer(question, () => card.current?.focus({ preventScroll: true }))
  const lost = useSelector(selectLost)
  const Answer = answers[question.kind]
  const [wasOpen] = useState(question.status === 'open')
  return (
    <Card question={question} ref={card}>
      {question.status === 'open' ? (
        <>
          <Answer question={question} answering={answering} />
          {answering.refusal !== null && <Note kind="error">{answering.refusal}</Note>}
          {lost && <p className="text-meta text-warn">{texts.offline}</p>}
        </>
      ) : (
        <SettledQuestion question={question} answering={answering} />
      )}
      {wasOpen && (
        <p role="status" className="sr-only">
          {question.status === 'open' ? '' : texts.settled.announced[question.status]}
        </p>
      )}
    </Card>
  )
}

/** A question in a replay, where nothing can be answered. */
function ShownCard({ question }: { readonly question: QuestionDocument }) {
  return (
    <Card question={question}>
      {question.status === 'open' ? (
        <>
          <AskedContent question={question} />
          <p className="text-meta text-warn">{texts.waiting}</p>
        </>
      ) : (
        <SettledQuestion question={question} answering={null} />
      )}
    </Card>
  )
}

const icons: Readonly<Record<QuestionKind, LucideIcon>> = {
  question: CircleQuestionMark,
  plan: ClipboardCheck,
  permission: ShieldQuestionMark,
  form: ClipboardList,
}

interface CardProps {
  readonly question: QuestionDocument
  readonly children: ReactNode
  readonly ref?: Ref<HTMLElement>
}

function Card({ question, children, ref }: CardProps) {
  const { questionId, kind, status, title, askedAt } = question
  const Icon = icons[kind]
  const isOpen = status === 'open'
  // The heading of a plan is its kind, since every plan has the same title.
  const heading = kind === 'plan' ? texts.kinds.plan : (title ?? texts.erased)
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- number keys choose an option from anywhere in the card
    <article
      ref={ref}
      id={`question-${questionId}`}
      tabIndex={-1}
      aria-label={kind === 'plan' ? heading : `${texts.kinds[kind]}: ${heading}`}
      onKeyDown={isOpen ? onChoiceKey : undefined}
      className={classes(
        'my-2 grid scroll-m-4 grid-cols-1 gap-3 rounded-panel border bg-panel p-3 text-ui md:ml-7',
        isOpen ? 'border-control' : 'border-line',
      )}
    >
      <header className="grid gap-1">
        <p className="flex items-center gap-1.5 text-meta text-muted">
          <Icon className={classes('size-3.5 flex-none', isOpen && 'text-warn')} />
          {kind !== 'plan' && (
            <span className={classes('font-medium', isOpen && 'text-warn')}>{texts.kinds[kind]}</span>
          )}
          <time dateTime={askedAt}>{clockTime(askedAt)}</time>
        </p>
        <p
          data-searched=""
          className={classes('text-body font-semibold wrap-anywhere', title === null && 'text-muted')}
        >
          {heading}
        </p>
      </header>
      {children}
    </article>
  )
}
