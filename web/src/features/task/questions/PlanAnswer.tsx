/** Approves a plan, or sends it back with comments on its passages. */
import { useRef } from 'react'
import { answerLength } from '#domain/api/questions.ts'
import { planOptions } from '#domain/task/questionOptions.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { tooLong } from '../../../ui/form/lengthLimit.ts'
import { AnswerText } from './AnswerText.tsx'
import { sendBackText, type AnswerDraft } from './answerDraft.ts'
import { choice, sends } from './choiceKeys.ts'
import { PlanComments } from './PlanComments.tsx'
import { PlanText } from './PlanText.tsx'
import type { AnswerProps } from './useAnswer.ts'
import { texts } from './texts.ts'

const { approve, approveAndAsk, sendBack } = planOptions

export function PlanAnswer({ question, answering }: AnswerProps) {
  const { draft, edit, send, sendingBy } = answering
  const has = (value: string) => question.options.some((option) => option.value === value)
  const change = useRef<HTMLDivElement>(null)
  const text = sendBackText(draft)
  const isChanging = text !== ''
  const why = whyNot(draft, text)
  const button = (value: string) => ({
    ...choice,
    ...((value === sendBack) === isChanging && value !== approveAndAsk ? sends : {}),
    size: 'touch' as const,
    busy: sendingBy === value,
    busyLabel: texts.sending,
    kind:
      (value === sendBack) === isChanging && value !== approveAndAsk
        ? ('primary' as const)
        : ('plain' as const),
  })
  const isBlocked = sendingBy !== null || draft.open !== null
  return (
    <>
      <PlanText plan={question.body ?? ''} draft={draft} edit={edit} />
      {draft.comments.length > 0 && <PlanComments comments={draft.comments} edit={edit} />}
      {has(sendBack) && (
        <div ref={change}>
          <AnswerText
            label={texts.plan.change}
            placeholder={texts.plan.changePlaceholder}
            lines={1}
            value={draft.text}
            onChange={(written) => edit({ text: written })}
          />
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        {[approve, approveAndAsk].filter(has).map((value) => (
          <Button
            {...button(value)}
            key={value}
            disabled={isBlocked || isChanging}
            onClick={() => send({ choices: [value] }, value)}
          >
            {value === approve ? texts.plan.approve : texts.plan.approveAndAsk}
          </Button>
        ))}
        {has(sendBack) && (
          <Button
            {...button(sendBack)}
            disabled={isBlocked || tooLong(text, answerLength) !== undefined}
            onClick={() =>
              isChanging
                ? send({ choices: [sendBack], text }, sendBack)
                : change.current?.querySelector('textarea')?.focus()
            }
          >
            {texts.plan.sendBack}
          </Button>
        )}
      </div>
      {why !== undefined && <p className="text-meta text-muted">{why}</p>}
    </>
  )
}

/** The reason why the draft disables buttons below the plan; `undefined` when it disables none. */
function whyNot(draft: AnswerDraft, text: string): string | undefined {
  if (draft.open !== null) return texts.plan.unsaved
  return text === '' ? undefined : (tooLong(text, answerLength) ?? texts.plan.approvesAsIs)
}
