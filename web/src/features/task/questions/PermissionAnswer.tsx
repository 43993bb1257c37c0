/** Buttons that allow an action of the agent, once or for the whole task, or deny it. */
import { permissionOptions } from '#domain/task/questionOptions.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { AskedContent } from './AskedContent.tsx'
import { AnswerText } from './AnswerText.tsx'
import { choice, sends } from './choiceKeys.ts'
import type { AnswerProps } from './useAnswer.ts'
import { texts } from './texts.ts'

const { allow, allowInTask, deny } = permissionOptions

export function PermissionAnswer({ question, answering }: AnswerProps) {
  const { options, allowsText, rules } = question
  const { draft, edit, send, sendingBy } = answering
  const mayAlways = options.some(({ value }) => value === allowInTask)
  const isDenying = draft.text.trim() !== ''
  const choose = (value: string) =>
    send({ choices: [value], text: value === deny && allowsText ? draft.text : '' }, value)
  const button = (value: string) => ({
    ...choice,
    ...((value === deny) === isDenying && value !== allowInTask ? sends : {}),
    size: 'touch' as const,
    busy: sendingBy === value,
    busyLabel: texts.sending,
    disabled: sendingBy !== null,
    onClick: () => choose(value),
  })
  return (
    <>
      <AskedContent question={question} />
      {mayAlways && rules.length > 0 && (
        <p className="text-meta text-muted">
          {texts.permission.always} <code className="wrap-anywhere mono text-text">{rules.join(', ')}</code>
        </p>
      )}
      {allowsText && (
        <AnswerText
          label={texts.permission.reason}
          placeholder={texts.permission.reason}
          lines={1}
          value={draft.text}
          onChange={(text) => edit({ text })}
        />
      )}
      <div className="flex flex-wrap gap-2">
        <Button {...button(allow)} kind="primary">
          {texts.permission.allow}
        </Button>
        {mayAlways && <Button {...button(allowInTask)}>{texts.permission.allowInTask}</Button>}
        <Button {...button(deny)} kind="danger">
          {texts.permission.deny}
        </Button>
      </div>
    </>
  )
}
