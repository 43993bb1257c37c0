/** A text box for the words of an answer. */
import { answerLength } from '#domain/api/questions.ts'
import { TextArea } from '../../../ui/form/TextArea.tsx'

interface AnswerTextProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly lines?: 1 | 2
}

export function AnswerText({ label, placeholder, value, onChange, lines = 2 }: AnswerTextProps) {
  return (
    <div className="rounded-control border border-control bg-panel px-2.5 py-1.5 has-focus-visible:outline-2 has-focus-visible:outline-accent">
      <TextArea
        label={label}
        placeholder={placeholder}
        minHeight={lines === 1 ? 20 : 40}
        maxHeight={200}
        maxCharacters={answerLength}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="text-typed"
      />
    </div>
  )
}
