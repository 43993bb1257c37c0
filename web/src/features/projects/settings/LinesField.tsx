/** A labelled box for several lines that are not prose: a command, hosts, a key. */
import { classes } from '../../../ui/classes.ts'
import { FieldNote } from '../../../ui/form/Field.tsx'
import { TextArea } from '../../../ui/form/TextArea.tsx'

interface LinesFieldProps {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly maxCharacters: number
  readonly help?: string
  readonly error?: string | undefined
  readonly onChange: (value: string) => void
}

export function LinesField({ label, help, error, onChange, ...rest }: LinesFieldProps) {
  return (
    <div>
      <p aria-hidden="true" className="mb-1.5 text-ui font-medium">
        {label}
      </p>
      <div
        className={classes(
          'rounded-control border bg-panel px-2.5 py-1.5 has-focus-visible:outline-2 has-focus-visible:outline-accent',
          error === undefined ? 'border-control' : 'border-bad',
        )}
      >
        <TextArea
          {...rest}
          label={label}
          minHeight={60}
          maxHeight={320}
          autoCapitalize="off"
          autoComplete="off"
          spellCheck={false}
          aria-invalid={error !== undefined || undefined}
          onChange={(event) => onChange(event.target.value)}
          className="font-mono text-typed"
        />
      </div>
      <FieldNote help={help} error={error} />
    </div>
  )
}

/** The distinct words of a text, separated by white space or commas. */
export function wordsOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/))].filter((word) => word !== '')
}
