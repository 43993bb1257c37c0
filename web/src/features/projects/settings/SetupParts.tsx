/** How a new workspace is set up: by a command, and with environment variables for everything that runs in it. */
import { Plus, Trash2 } from 'lucide-react'
import { messageFor } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { classes } from '../../../ui/classes.ts'
import { Field } from '../../../ui/form/Field.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { type ProjectSettingsProps, SettingsForm, useEdited, useSettingsForm } from './SettingsPart.tsx'
import { texts } from './texts.ts'
import { LinesField } from './LinesField.tsx'

export function SetupPart(part: ProjectSettingsProps) {
  const [setupCommand, setSetupCommand] = useEdited(part.settings.setupCommand)
  const form = useSettingsForm(part, { setupCommand })
  return (
    <SettingsForm form={form} title={texts.setup.title} why={texts.setup.why}>
      <LinesField
        label={texts.setup.label}
        placeholder={texts.setup.placeholder}
        maxCharacters={10_000}
        value={setupCommand}
        error={form.refused?.message}
        onChange={setSetupCommand}
      />
    </SettingsForm>
  )
}

interface Row {
  /** Identifies a row that has no name yet. */
  readonly key: number
  readonly name: string
  readonly value: string
}

const variablesIn = (rows: readonly Row[]) => rows.map(({ name, value }) => ({ name: name.trim(), value }))

export function VariablesPart(part: ProjectSettingsProps) {
  const [rows, setRows] = useEdited<readonly Row[]>(
    part.settings.variables.map((variable, key) => ({ key, ...variable })),
    variablesIn,
  )
  const variables = variablesIn(rows)
  const form = useSettingsForm(part, { variables })
  const change = (key: number, changed: Partial<Row>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...changed } : row)))
  const errorOf = (index: number, member: 'name' | 'value') =>
    messageFor(form.refused, `variables.${index}.${member}`)
  const add = () => {
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
    setRows([...rows, { key, name: '', value: '' }])
  }
  return (
    <SettingsForm form={form} title={texts.variables.title} why={texts.variables.why}>
      {rows.length === 0 && <p className="text-ui text-muted">{texts.variables.none}</p>}
      <ul className="grid gap-3 max-md:divide-y max-md:divide-line-soft">
        {rows.map((row, index) => (
          // From 768 pixels on, only the first row has visible labels. The rows are aligned at the top, since a message below one field must not move
          // the others.
          <li
            key={row.key}
            className={classes(
              'flex flex-wrap items-start gap-2 max-md:pt-3 max-md:first:pt-0 md:flex-nowrap',
              index > 0 && 'md:[&_label]:sr-only',
            )}
          >
            <Field
              label={texts.variables.name}
              autoCapitalize="off"
              autoComplete="off"
              spellCheck={false}
              maxCharacters={100}
              value={row.name}
              error={errorOf(index, 'name')}
              onChange={(event) => change(row.key, { name: event.target.value })}
              className="w-full min-w-0 md:w-1/3"
            />
            <Field
              label={texts.variables.value}
              autoCapitalize="off"
              autoComplete="off"
              spellCheck={false}
              value={row.value}
              error={errorOf(index, 'value')}
              onChange={(event) => change(row.key, { value: event.target.value })}
              className="min-w-0 flex-1"
            />
            <IconButton
              label={row.name === '' ? texts.removeUnnamed : texts.remove(row.name)}
              icon={Trash2}
              className={index > 0 ? 'mt-6.5 md:mt-0' : 'mt-6.5'}
              onClick={() => setRows(rows.filter(({ key }) => key !== row.key))}
            />
          </li>
        ))}
      </ul>
      <div>
        <Button size="touch" icon={<Plus />} onClick={add}>
          {texts.variables.add}
        </Button>
      </div>
    </SettingsForm>
  )
}
