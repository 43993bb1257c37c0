/** Answers a question with one or several options, with words, or with both. */
import { answerLength } from '#domain/api/questions.ts'
import type { QuestionOption } from '#domain/task/questionEvents.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { tooLong } from '../../../ui/form/lengthLimit.ts'
import { KeyCap } from '../../../ui/text/KeyCap.tsx'
import { MarkdownText } from '../chat/entries/MessageBody.tsx'
import { AnswerText } from './AnswerText.tsx'
import { choice, sends } from './choiceKeys.ts'
import type { AnswerProps } from './useAnswer.ts'
import { texts } from './texts.ts'

export function QuestionAnswer({ question, answering }: AnswerProps) {
  const { options, allowsText, multiple, body } = question
  const { draft, edit, send, sendingBy } = answering
  const choices = draft.choices.filter((value) => options.some((option) => option.value === value))
  const text = allowsText ? draft.text : ''
  const toggle = (value: string) => {
    const others = choices.filter((one) => one !== value)
    const isChosen = others.length < choices.length
    edit({ choices: isChosen ? others : multiple ? [...others, value] : [value] })
  }
  const maySend = (choices.length > 0 || text.trim() !== '') && tooLong(text, answerLength) === undefined
  return (
    <>
      {body !== null && body !== '' && (
        <div data-searched="">
          <MarkdownText text={body} />
        </div>
      )}
      {options.length > 0 && (
        <fieldset>
          <legend className="mb-1.5 text-meta text-muted">
            {multiple ? texts.chooseSeveral : texts.choose}
          </legend>
          <div className="-mx-3 divide-y divide-line-soft border-y border-line-soft">
            {options.map((option, index) => (
              <Option
                key={option.value}
                option={option}
                number={index + 1}
                name={multiple ? undefined : `option-${question.questionId}`}
                isChosen={choices.includes(option.value)}
                onToggle={() => toggle(option.value)}
              />
            ))}
          </div>
        </fieldset>
      )}
      {allowsText && (
        <AnswerText
          label={options.length > 0 && choices.length > 0 ? texts.ownBeside : texts.own}
          placeholder={options.length > 0 ? texts.ownPlaceholder : texts.own}
          value={draft.text}
          onChange={(written) => edit({ text: written })}
        />
      )}
      <div>
        <Button
          {...sends}
          kind="primary"
          size="touch"
          disabled={!maySend}
          busy={sendingBy !== null}
          busyLabel={texts.sending}
          onClick={() => send({ choices, text })}
        >
          {texts.send}
        </Button>
      </div>
    </>
  )
}

interface OptionProps {
  readonly option: QuestionOption
  readonly number: number
  /** The name of the group of radio buttons; without it, the options are checkboxes, of which several may be chosen. */
  readonly name: string | undefined
  readonly isChosen: boolean
  readonly onToggle: () => void
}

function Option({ option, number, name, isChosen, onToggle }: OptionProps) {
  const { label, description, preview } = option
  return (
    <div className="transition-colors has-checked:bg-select">
      <label className="flex min-h-11 cursor-pointer items-start gap-2.5 px-3 py-2 hover:bg-raised has-checked:hover:bg-transparent has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent md:min-h-8">
        <input
          {...choice}
          type={name === undefined ? 'checkbox' : 'radio'}
          name={name}
          checked={isChosen}
          onChange={onToggle}
          // A radio button that is chosen reports no change.
          onClick={isChosen && name !== undefined ? onToggle : undefined}
          className="mt-0.5 size-4 flex-none accent-accent outline-none"
        />
        <span className="min-w-0 flex-1 wrap-anywhere">
          <span className="font-medium">{label}</span>
          {description !== '' && <span className="block text-muted">{description}</span>}
        </span>
        {number < 10 && (
          <span aria-hidden="true" className="hidden flex-none md:inline">
            <KeyCap>{String(number)}</KeyCap>
          </span>
        )}
      </label>
      {isChosen && preview !== null && (
        <div className="max-h-100 overflow-auto pr-3 pb-3 pl-9.5">
          <MarkdownText text={preview} />
        </div>
      )}
    </div>
  )
}
