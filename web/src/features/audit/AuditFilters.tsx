/** The filters of the audit log: person, task and time. */
import { useState } from 'react'
import { Button } from '../../ui/form/Button.tsx'
import { Field } from '../../ui/form/Field.tsx'
import type { AuditFilter } from './auditApi.ts'
import { texts } from './texts.ts'
import { isComposingKey } from '../../ui/isComposingKey.ts'

interface AuditFiltersProps {
  readonly filter: AuditFilter
  readonly onChange: (change: Partial<AuditFilter>) => void
  readonly onClear: () => void
}

export function AuditFilters({ filter, onChange, onClear }: AuditFiltersProps) {
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <div
      role="group"
      aria-label={texts.filters}
      className="mb-4 grid grid-cols-2 items-start gap-4 lg:grid-cols-[1fr_1fr_auto_auto]"
    >
      <IdField
        key={`person ${filter.person}`}
        label={texts.person}
        help={texts.personHelp}
        id={filter.person}
        onChange={(person) => onChange({ person })}
      />
      <IdField
        key={`task ${filter.task}`}
        label={texts.task}
        help={texts.taskHelp}
        id={filter.task}
        onChange={(task) => onChange({ task })}
      />
      {(['from', 'to'] as const).map((end) => (
        <Field
          key={end}
          label={texts[end]}
          type="date"
          value={filter[end] ?? ''}
          onChange={(event) => onChange({ [end]: event.target.value || undefined })}
        />
      ))}
      {isFiltered && (
        <div className="col-span-2 lg:col-span-4">
          <Button size="touch" onClick={onClear}>
            {texts.clear}
          </Button>
        </div>
      )}
    </div>
  )
}

interface IdFieldProps {
  readonly label: string
  readonly help: string
  readonly id: string | undefined
  readonly onChange: (id: string | undefined) => void
}

/** A field for an id, or for a text that contains one, such as an address. */
function IdField({ label, help, id, onChange }: IdFieldProps) {
  const [typed, setTyped] = useState(id ?? '')
  const [isWrong, setWrong] = useState(false)
  const take = () => {
    const foundId = idIn(typed)
    setWrong(foundId === undefined && typed.trim() !== '')
    if ((foundId !== undefined || typed.trim() === '') && foundId !== id) onChange(foundId)
  }
  return (
    <Field
      label={label}
      help={help}
      className="max-md:col-span-2"
      error={isWrong ? texts.invalidId : undefined}
      value={typed}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={take}
      onKeyDown={(event) => event.key === 'Enter' && !isComposingKey(event.nativeEvent) && take()}
    />
  )
}

export function idIn(text: string): string | undefined {
  return /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text.toLowerCase())?.[0]
}
