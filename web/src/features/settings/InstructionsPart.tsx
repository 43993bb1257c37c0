/** The person's own instructions for every agent, and their own commands. */
import { Plus, Trash2 } from 'lucide-react'
import { type FormEvent, useRef, useState } from 'react'
import { useDispatch } from 'react-redux'
import { instructionLimits } from '#domain/api/instructions.ts'
import type { getInstructions } from '#domain/api/instructions.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { messageFor, reasonOf } from '../../api/fault.ts'
import { Button } from '../../ui/form/Button.tsx'
import { AreaField, Field, FieldNote } from '../../ui/form/Field.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { notifiedOutcome } from '../notifications/notifications.ts'
import { useInstructionsQuery, useUpdateInstructionsMutation } from './instructionsApi.ts'
import { instructionTexts as texts } from './texts.ts'

type Instructions = AnswerOf<typeof getInstructions>
type Command = Instructions['commands'][number]

export function InstructionsPart() {
  const read = useInstructionsQuery()
  return (
    <section className="mt-8">
      <h2 className="mb-1 font-semibold">{texts.heading}</h2>
      <p className="mb-3 text-muted">{texts.why}</p>
      <RetryNote read={read}>{reasonOf(read.error, texts.notFetched)}</RetryNote>
      {read.data !== undefined && <InstructionsForm saved={read.data} />}
    </section>
  )
}

function InstructionsForm({ saved }: { readonly saved: Instructions }) {
  const dispatch = useDispatch()
  const [update, { isLoading, error }] = useUpdateInstructionsMutation()
  const [instructions, setInstructions] = useState(saved.instructions)
  const { commands, add, change, remove } = useCommands(saved.commands)
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    const answer = await update({
      instructions,
      commands: commands.map(({ key: _key, ...command }) => command),
    })
    dispatch(notifiedOutcome(answer.error, texts.saved, texts.notSaved))
  }
  return (
    <Panel label={texts.heading}>
      <form onSubmit={(event) => void onSubmit(event)} className="grid gap-4 p-5">
        <div>
          <AreaField
            label={texts.instructions}
            placeholder={texts.placeholder}
            minHeight={96}
            maxHeight={320}
            maxCharacters={instructionLimits.instructionBytes}
            value={instructions}
            onChange={(event) => setInstructions(event.target.value)}
          />
          <FieldNote help={texts.help} error={messageFor(error, 'instructions')} />
        </div>
        <ul aria-label={texts.commands} className="grid gap-4">
          {commands.map((command, index) => (
            <CommandFields
              key={command.key}
              command={command}
              errorOf={(field) => messageFor(error, `commands.${index}.${field}`)}
              onChange={(changed) => change(command.key, changed)}
              onRemove={() => remove(command.key)}
            />
          ))}
        </ul>
        <FieldNote help={texts.commandsHelp} error={messageFor(error, 'commands')} />
        <div className="flex justify-between gap-2">
          <Button size="touch" disabled={commands.length >= instructionLimits.commands} onClick={add}>
            <Plus className="size-3.5" />
            {texts.add}
          </Button>
          <Button kind="primary" size="touch" type="submit" busy={isLoading} busyLabel={texts.saving}>
            {texts.save}
          </Button>
        </div>
      </form>
    </Panel>
  )
}

/**
 * The commands as they are being edited. Each command has a key, because two commands may have the same name while a person types one of the names.
 */
function useCommands(saved: readonly Command[]) {
  const next = useRef(saved.length)
  const [commands, setCommands] = useState(saved.map((command, key) => ({ ...command, key })))
  return {
    commands,
    add: () => setCommands([...commands, { key: next.current++, name: '', description: '', text: '' }]),
    change: (key: number, changed: Partial<Command>) =>
      setCommands(commands.map((command) => (command.key === key ? { ...command, ...changed } : command))),
    remove: (key: number) => setCommands(commands.filter((command) => command.key !== key)),
  }
}

interface CommandFieldsProps {
  readonly command: Command
  readonly errorOf: (field: keyof Command) => string | undefined
  readonly onChange: (changed: Partial<Command>) => void
  readonly onRemove: () => void
}

function CommandFields({ command, errorOf, onChange, onRemove }: CommandFieldsProps) {
  const { name, description, text } = command
  return (
    <li className="grid gap-3 border-t border-line-soft pt-4">
      <div className="flex flex-wrap items-start gap-3">
        <Field
          label={texts.name}
          icon="/"
          autoCapitalize="off"
          autoComplete="off"
          spellCheck={false}
          maxCharacters={instructionLimits.commandNameLength}
          value={name}
          error={errorOf('name')}
          onChange={(event) => onChange({ name: event.target.value })}
          className="w-full md:w-44"
        />
        <Field
          label={texts.description}
          autoComplete="off"
          maxCharacters={instructionLimits.descriptionLength}
          value={description}
          error={errorOf('description')}
          onChange={(event) => onChange({ description: event.target.value })}
          className="min-w-0 flex-1"
        />
      </div>
      <div>
        <AreaField
          label={texts.text}
          minHeight={60}
          maxHeight={240}
          maxCharacters={instructionLimits.commandBytes}
          value={text}
          onChange={(event) => onChange({ text: event.target.value })}
        />
        <FieldNote help={undefined} error={errorOf('text')} />
      </div>
      <div className="flex justify-end">
        <Button kind="ghost" size="touch" aria-label={texts.removeNamed(name)} onClick={onRemove}>
          <Trash2 className="size-3.5" />
          {texts.remove}
        </Button>
      </div>
    </li>
  )
}
