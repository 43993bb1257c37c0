/** The form that an agent asks a person to fill in, for itself or for an MCP server that it uses. */
import { useId, useState } from 'react'
import { answerLength } from '#domain/api/questions.ts'
import type { FormField } from '#domain/task/questionEvents.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Checkbox } from '../../../ui/form/Choice.tsx'
import { Field, FieldNote } from '../../../ui/form/Field.tsx'
import { MarkdownText } from '../chat/entries/MessageBody.tsx'
import { faultOf, valuesOf } from './answerDraft.ts'
import { choice, sends } from './choiceKeys.ts'
import type { AnswerProps } from './useAnswer.ts'
import { texts } from './texts.ts'

export function FormAnswer({ question, answering }: AnswerProps) {
  const { fields, options, body } = question
  const { draft, edit, send, sendingBy } = answering
  const [isAttempted, setAttempted] = useState(false)
  const valueOf = (name: string) => draft.values[name] ?? ''
  const isWrong = fields.some((field) => faultOf(field, valueOf(field.name)) !== undefined)
  const submit = () => {
    setAttempted(true)
    if (!isWrong) send({ values: [...valuesOf(fields, draft.values)] })
  }
  return (
    <>
      {body !== null && body !== '' && <MarkdownText text={body} />}
      <div className="grid gap-3">
        {fields.map((field) => (
          <Input
            key={field.name}
            field={field}
            value={valueOf(field.name)}
            error={isAttempted ? faultOf(field, valueOf(field.name)) : undefined}
            onChange={(value) => edit({ values: { ...draft.values, [field.name]: value } })}
          />
        ))}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button
          {...sends}
          kind="primary"
          size="touch"
          busy={sendingBy === 'send'}
          busyLabel={texts.sending}
          disabled={sendingBy !== null}
          onClick={submit}
        >
          {fields.length === 0 ? texts.form.accept : texts.form.send}
        </Button>
        {options.map(({ value, label }) => (
          <Button
            {...choice}
            key={value}
            size="touch"
            busy={sendingBy === value}
            disabled={sendingBy !== null}
            onClick={() => send({ choices: [value] }, value)}
          >
            {label}
          </Button>
        ))}
      </div>
    </>
  )
}

interface InputProps {
  readonly field: FormField
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}

function Input({ field, value, error, onChange }: InputProps) {
  const { type, required, description } = field
  const id = useId()
  const label = required && type !== 'boolean' ? texts.form.required(field.label) : field.label
  const help = description === '' ? undefined : description
  switch (type) {
    case 'boolean':
      return (
        <div>
          <Checkbox
            checked={value === 'true'}
            describedBy={`${id}-note`}
            onChange={(checked) => onChange(String(checked))}
          >
            {label}
          </Checkbox>
          <FieldNote id={`${id}-note`} help={help} error={error} />
        </div>
      )
    case 'choice':
      return (
        <div>
          <label htmlFor={id} className="mb-1.5 block text-ui font-medium">
            {label}
          </label>
          <select
            id={id}
            value={value}
            aria-invalid={error !== undefined}
            aria-describedby={`${id}-note`}
            onChange={(event) => onChange(event.target.value)}
            className="h-11 w-full max-w-full rounded-control border border-control bg-panel px-2 text-typed md:h-8"
          >
            <option value="">{texts.form.none}</option>
            {field.choices.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
          <FieldNote id={`${id}-note`} help={help} error={error} />
        </div>
      )
    default:
      return (
        <Field
          label={label}
          value={value}
          help={help}
          error={error}
          aria-required={required}
          inputMode={type === 'text' ? 'text' : type === 'integer' ? 'numeric' : 'decimal'}
          maxCharacters={answerLength}
          onChange={(event) => onChange(event.target.value)}
        />
      )
  }
}
