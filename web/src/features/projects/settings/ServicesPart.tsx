/** The services of a project: processes that run beside the agent in its sandbox. */
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { messageFor } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Field } from '../../../ui/form/Field.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { LinesField } from './LinesField.tsx'
import { type ProjectSettingsProps, SettingsForm, useSettingsForm } from './SettingsPart.tsx'
import { servicesTexts as texts } from './servicesTexts.ts'

interface Row {
  /** Identifies a row that has no name yet. */
  readonly key: number
  readonly name: string
  readonly command: string
  /** The port as it was typed; empty for none. */
  readonly port: string
}

const most = 8

export function ServicesPart(part: ProjectSettingsProps) {
  const [rows, setRows] = useState<readonly Row[]>(() =>
    part.settings.services.map(({ name, command, readyPort }, key) => ({
      key,
      name,
      command,
      port: readyPort === null ? '' : String(readyPort),
    })),
  )
  const services = rows.map(({ name, command, port }) => ({
    name: name.trim(),
    command,
    // A port that is not a number is sent as 0, which the server refuses with a reason.
    readyPort: port.trim() === '' ? null : /^\d+$/.test(port.trim()) ? Number(port) : 0,
  }))
  const form = useSettingsForm(part, { services })
  const change = (key: number, changed: Partial<Row>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...changed } : row)))
  const add = () => {
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
    setRows([...rows, { key, name: '', command: '', port: '' }])
  }
  const faultOfAll = form.refused?.field === 'services' ? form.refused.message : undefined
  return (
    <SettingsForm form={form} title={texts.title} why={texts.why}>
      {rows.length === 0 && <p className="text-ui text-muted">{texts.none}</p>}
      {rows.length > 0 && (
        <ul className="grid gap-4 divide-y divide-line-soft">
          {rows.map((row, index) => (
            <ServiceRow
              key={row.key}
              row={row}
              errorOf={(member) => messageFor(form.refused, `services.${index}.${member}`)}
              onChange={(changed) => change(row.key, changed)}
              onRemove={() => setRows(rows.filter(({ key }) => key !== row.key))}
            />
          ))}
        </ul>
      )}
      {faultOfAll !== undefined && (
        <p role="alert" className="text-meta text-bad">
          {faultOfAll}
        </p>
      )}
      {rows.length < most ? (
        <div>
          <Button size="touch" icon={<Plus />} onClick={add}>
            {texts.add}
          </Button>
        </div>
      ) : (
        <p className="text-meta text-muted">{texts.most(most)}</p>
      )}
    </SettingsForm>
  )
}

interface ServiceRowProps {
  readonly row: Row
  readonly errorOf: (member: 'name' | 'command' | 'readyPort') => string | undefined
  readonly onChange: (changed: Partial<Row>) => void
  readonly onRemove: () => void
}

function ServiceRow({ row, errorOf, onChange, onRemove }: ServiceRowProps) {
  const plain = { autoCapitalize: 'off', autoComplete: 'off', spellCheck: false } as const
  return (
    <li
      aria-label={row.name === '' ? texts.unnamed : row.name}
      className="grid grid-cols-1 gap-3 pt-4 first:pt-0"
    >
      <div className="flex items-start gap-2">
        <Field
          {...plain}
          label={texts.name}
          maxCharacters={32}
          value={row.name}
          error={errorOf('name')}
          onChange={(event) => onChange({ name: event.target.value })}
          className="min-w-0 flex-1"
        />
        <Field
          {...plain}
          label={texts.port}
          inputMode="numeric"
          maxCharacters={5}
          value={row.port}
          error={errorOf('readyPort')}
          onChange={(event) => onChange({ port: event.target.value })}
          className="w-28 shrink-0"
        />
        <IconButton
          label={row.name === '' ? texts.removeUnnamed : texts.remove(row.name)}
          icon={Trash2}
          className="mt-6.5"
          onClick={onRemove}
        />
      </div>
      <LinesField
        label={texts.command}
        placeholder={texts.placeholder}
        maxCharacters={4_000}
        value={row.command}
        error={errorOf('command')}
        onChange={(command) => onChange({ command })}
      />
    </li>
  )
}
