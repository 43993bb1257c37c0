/** A labelled box for several lines that are no prose: a command, hosts, a key. */
import { CircleAlert } from 'lucide-react'
import { classes } from '../../../ui/classes.ts'
import { TextArea } from '../../../ui/form/TextArea.tsx'

interface LinesProps {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly maxCharacters: number
  readonly help?: string
  readonly error?: string | undefined
  readonly onChange: (value: string) => void
}

export function Lines({ label, help, error, onChange, ...rest }: LinesProps) {
  const said = error ?? help
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
      {said !== undefined && (
        <p
          role={error === undefined ? undefined : 'alert'}
          className={classes(
            'mt-1.5 flex items-center gap-1.5 text-meta',
            error === undefined ? 'text-muted' : 'text-bad',
          )}
        >
          {error !== undefined && <CircleAlert className="size-3.5" />}
          {said}
        </p>
      )}
    </div>
  )
}
