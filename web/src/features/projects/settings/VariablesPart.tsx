/** The variables of the environment that everything of the project runs in. */
import { Plus, Trash2 } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { Button } from '../../../ui/form/Button.tsx'
import { classes } from '../../../ui/classes.ts'
import { Field } from '../../../ui/form/Field.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { Part, type PartOfProject } from './Part.tsx'
import { SaveButton } from './SaveButton.tsx'
import { texts } from './texts.ts'
import { useSave } from './useSave.ts'

interface Row {
  /** Tells rows apart that have no name yet. */
  readonly key: number
  readonly name: string
  readonly value: string
}

export function VariablesPart({ projectId, settings }: PartOfProject) {
  const [rows, setRows] = useState<readonly Row[]>(() =>
    settings.variables.map((variable, key) => ({ key, ...variable })),
  )
  const { save, busy, refused } = useSave(projectId)
  const variables = rows.map(({ name, value }) => ({ name: name.trim(), value }))
  const change = (key: number, changed: Partial<Row>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...changed } : row)))
  const errorOf = (index: number, member: 'name' | 'value') =>
    refused?.field === `variables.${index}.${member}` ? refused.message : undefined
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void save({ variables })
  }
  return (
    <Part title={texts.variables.title} why={texts.variables.why}>
      <form onSubmit={onSubmit} className="grid grid-cols-1 gap-4">
        {rows.length === 0 && <p className="text-ui text-muted">{texts.variables.none}</p>}
        <ul className="grid gap-3 max-md:divide-y max-md:divide-line-soft">
          {rows.map((row, index) => (
            // Its labels stand above the first; what is wrong with one moves no other.
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
          <Button
            size="touch"
            icon={<Plus />}
            onClick={() =>
              setRows([
                ...rows,
                { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, name: '', value: '' },
              ])
            }
          >
            {texts.variables.add}
          </Button>
        </div>
        <SaveButton busy={busy} changed={JSON.stringify(variables) !== JSON.stringify(settings.variables)} />
      </form>
    </Part>
  )
}
