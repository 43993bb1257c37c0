/** The form of one MCP server. */
import { useState, type FormEvent } from 'react'
import type { ShownMcpServer } from '#domain/api/mcpServers.schema.ts'
import { mcpCallbackPath } from '#domain/api/mcpServers.ts'
import { messageFor } from '../../api/fault.ts'
import { Button } from '../../ui/form/Button.tsx'
import { Field } from '../../ui/form/Field.tsx'
import { focusFirstField } from '../../ui/form/useFocusBack.ts'
import { Segmented } from '../../ui/form/Segmented.tsx'
import { LinesField, wordsOf } from '../projects/settings/LinesField.tsx'
import type { McpServerChange } from './mcpApi.ts'
import { texts } from './texts.ts'
import type { SaveServers } from './useSaveServers.ts'

/** A server that is stored, or a new one. */
export type Draft = ShownMcpServer | McpServerChange

interface McpServerFormProps {
  readonly saving: SaveServers
  readonly servers: readonly ShownMcpServer[]
  readonly draft: Draft
  readonly onClose: () => void
}

export function McpServerForm({ saving: { save, busy }, servers, draft, onClose }: McpServerFormProps) {
  const [error, setError] = useState<unknown>()
  const [fields, setFields] = useState(() => fieldsOf(draft))
  const at = servers.findIndex(({ id }) => id === draft.id)
  const place = at < 0 ? servers.length : at
  const faultOf = (field: string) => messageFor(error, `servers.${place}.${field}`)
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    const changed = serverOf(draft, fields)
    const fault = await save((all) =>
      all.some(({ id }) => id === draft.id)
        ? all.map((one) => (one.id === draft.id ? changed : one))
        : [...all, changed],
    )
    if (fault === undefined) onClose()
    else setError(fault)
  }
  const props = {
    fields,
    faultOf,
    onChange: (change: Partial<Fields>) => setFields({ ...fields, ...change }),
  }
  return (
    <form
      ref={focusFirstField}
      onSubmit={(event) => void onSubmit(event)}
      className="grid grid-cols-1 gap-4 py-3"
    >
      <Segmented
        label={texts.kind}
        options={[
          { value: 'remote', label: texts.kinds.remote },
          { value: 'local', label: texts.kinds.local },
        ]}
        chosen={fields.kind}
        onChoose={(kind) => props.onChange({ kind })}
      />
      <TextField {...props} name="name" label={texts.name} help={texts.nameHelp} at="name" />
      {fields.kind === 'remote' ? <RemoteFields {...props} draft={draft} /> : <LocalFields {...props} />}
      <TextField {...props} name="toolsOff" label={texts.toolsOff} help={texts.toolsOffHelp} at="toolsOff" />
      <div className="flex justify-end gap-2">
        <Button size="touch" onClick={onClose}>
          {texts.keep}
        </Button>
        <Button
          kind="primary"
          size="touch"
          type="submit"
          busy={busy}
          busyLabel={texts.saving}
          disabled={
            fields.name.trim() === '' ||
            (fields.kind === 'remote' ? fields.url : fields.command).trim() === ''
          }
        >
          {texts.save}
        </Button>
      </div>
    </form>
  )
}

interface Fields {
  readonly kind: 'remote' | 'local'
  readonly name: string
  readonly toolsOff: string
  readonly url: string
  readonly auth: 'none' | 'header' | 'oauth'
  readonly headerName: string
  readonly headerValue: string
  readonly clientId: string
  readonly command: string
  readonly args: string
  readonly secrets: string
}

interface FieldsProps {
  readonly fields: Fields
  readonly faultOf: (field: string) => string | undefined
  readonly onChange: (change: Partial<Fields>) => void
}

interface TextFieldProps extends FieldsProps {
  readonly name: Exclude<keyof Fields, 'kind' | 'auth'>
  readonly label: string
  readonly help?: string
  /** The path of the field in the request. A fault names the field by this path. */
  readonly at: string
  readonly type?: 'password'
}

function TextField({ fields, faultOf, onChange, name, label, help, at, type }: TextFieldProps) {
  return (
    <Field
      label={label}
      help={help}
      type={type ?? 'text'}
      autoCapitalize="off"
      autoComplete="off"
      spellCheck={false}
      maxCharacters={4_000}
      value={fields[name]}
      error={faultOf(at)}
      onChange={(event) => onChange({ [name]: event.target.value })}
    />
  )
}

function RemoteFields({ draft, ...props }: FieldsProps & { readonly draft: Draft }) {
  const isStored = draft.id !== undefined && draft.kind === 'remote' && draft.auth.kind === 'header'
  return (
    <>
      <TextField {...props} name="url" label={texts.url} help={texts.urlHelp} at="url" />
      <div className="grid">
        <p aria-hidden className="mb-1.5 text-ui font-medium">
          {texts.auth}
        </p>
        <Segmented
          label={texts.auth}
          options={[
            { value: 'none', label: texts.auths.none },
            { value: 'header', label: texts.auths.header },
            { value: 'oauth', label: texts.auths.oauth },
          ]}
          chosen={props.fields.auth}
          onChoose={(auth) => props.onChange({ auth })}
        />
      </div>
      {props.fields.auth === 'header' && (
        <>
          <TextField {...props} name="headerName" label={texts.headerName} at="auth.name" />
          <TextField
            {...props}
            name="headerValue"
            label={texts.headerValue}
            help={isStored ? texts.headerKept : texts.headerNew}
            at="auth.value"
            type="password"
          />
        </>
      )}
      {props.fields.auth === 'oauth' && (
        <TextField
          {...props}
          name="clientId"
          label={texts.clientId}
          help={texts.clientIdHelp(location.origin + mcpCallbackPath)}
          at="auth.clientId"
        />
      )}
    </>
  )
}

function LocalFields(props: FieldsProps) {
  return (
    <>
      <TextField {...props} name="command" label={texts.command} at="command" />
      <LinesField
        label={texts.args}
        help={texts.argsHelp}
        maxCharacters={20_000}
        value={props.fields.args}
        error={props.faultOf('args')}
        onChange={(args) => props.onChange({ args })}
      />
      <TextField {...props} name="secrets" label={texts.secrets} help={texts.secretsHelp} at="secrets" />
    </>
  )
}

function fieldsOf(draft: Draft): Fields {
  const remote = draft.kind === 'remote' ? draft : undefined
  const local = draft.kind === 'local' ? draft : undefined
  return {
    kind: draft.kind,
    name: draft.name,
    toolsOff: draft.toolsOff.join(', '),
    url: remote?.url ?? '',
    auth: remote?.auth.kind ?? 'none',
    headerName: remote?.auth.kind === 'header' ? remote.auth.name : 'Authorization',
    headerValue: '',
    clientId: (remote?.auth.kind === 'oauth' && remote.auth.clientId) || '',
    command: local?.command ?? '',
    args: local?.args.join('\n') ?? '',
    secrets: local?.secrets.join(', ') ?? '',
  }
}

function serverOf({ id, enabled }: Draft, fields: Fields): McpServerChange {
  const { kind, headerName, headerValue, clientId } = fields
  const common = {
    ...(id === undefined ? {} : { id }),
    name: fields.name.trim(),
    enabled,
    toolsOff: wordsOf(fields.toolsOff),
  }
  if (kind === 'local') {
    const args = fields.args.split('\n').filter((line) => line !== '')
    return { ...common, kind, command: fields.command.trim(), args, secrets: wordsOf(fields.secrets) }
  }
  const value = headerValue.trim() === '' ? {} : { value: headerValue.trim() }
  const auths = {
    none: { kind: 'none' },
    header: { kind: 'header', name: headerName.trim(), ...value },
    oauth: { kind: 'oauth', clientId: clientId.trim() === '' ? null : clientId.trim() },
  } as const
  return { ...common, kind, url: fields.url.trim(), auth: auths[fields.auth] }
}
