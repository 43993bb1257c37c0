/** Adds, changes, tests and removes the MCP servers of a project or of the person. */
import { Pencil, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import type { McpSignIn, ShownMcpServer, SuggestedMcpServer } from '#domain/api/mcpServers.schema.ts'
import { Button } from '../../ui/form/Button.tsx'
import { Checkbox } from '../../ui/form/Choice.tsx'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { useFocusBack } from '../../ui/form/useFocusBack.ts'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { ConfirmDialog } from '../../ui/overlay/ConfirmDialog.tsx'
import { Skeletons } from '../../ui/status/Loading.tsx'
import { McpServerForm } from './McpServerForm.tsx'
import { McpServerTools } from './McpServerTools.tsx'
import { useMcpServersQuery, type McpOwner, type McpServerChange } from './mcpApi.ts'
import { useSaveServers, type SaveServers } from './useSaveServers.ts'
import { faults, texts } from './texts.ts'

export function McpServersPart({ owner }: { readonly owner: McpOwner }) {
  const read = useMcpServersQuery(owner)
  const { data, error } = read
  return (
    <Panel label={texts.title} className="mb-6 grid grid-cols-1 gap-4 p-5">
      <div>
        <h2 className="font-semibold">{texts.title}</h2>
        <p className="mt-1 max-w-[72ch] text-ui text-muted">
          {owner === null ? texts.why.own : texts.why.project}
        </p>
      </div>
      {data === undefined && error === undefined && (
        <Skeletons label={texts.loading} each={['h-11 w-full']} />
      )}
      {data === undefined && error !== undefined && <RetryNote read={read}>{faults.notFetched}</RetryNote>}
      {data !== undefined && <Servers owner={owner} {...data} />}
    </Panel>
  )
}

interface ServersProps {
  readonly owner: McpOwner
  readonly servers: readonly ShownMcpServer[]
  readonly signIns: readonly McpSignIn[]
  readonly suggestions?: readonly SuggestedMcpServer[]
}

function Servers({ owner, servers, signIns, suggestions = [] }: ServersProps) {
  /** The server that is being added or changed. */
  const [draft, setDraft] = useState<ShownMcpServer | NewServer | null>(null)
  const edited = draft !== null && draft.id !== undefined ? draft : null
  const isListed = edited === null || servers.some(({ id }) => id === edited.id)
  // A server that was removed elsewhere stays while it is edited, with what was typed.
  const shown = isListed ? servers : [...servers, edited]
  const addButton = useRef<HTMLButtonElement>(null)
  useFocusBack(draft && (draft.id ?? draft.name), addButton)
  // Shared by all servers: each change saves the whole list, so a change during another would undo it.
  const saving = useSaveServers(owner)
  const form = (
    <McpServerForm
      saving={saving}
      servers={servers}
      draft={draft ?? newServer}
      onClose={() => setDraft(null)}
    />
  )
  return (
    <>
      {shown.length === 0 && <p className="text-ui text-muted">{texts.none}</p>}
      {shown.length > 0 && (
        <ul className="divide-y divide-line-soft border-y border-line-soft">
          {shown.map((server) => (
            <li key={server.id} className="py-1">
              {edited?.id === server.id ? (
                form
              ) : (
                <ServerRow
                  owner={owner}
                  saving={saving}
                  server={server}
                  signIn={signIns.find(({ serverId }) => serverId === server.id)}
                  onEdit={() => setDraft(server)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {draft !== null && edited === null && form}
      {draft === null && suggestions.length > 0 && <Suggestions suggestions={suggestions} onAdd={setDraft} />}
      {draft === null && (
        <div>
          <Button ref={addButton} size="touch" onClick={() => setDraft(newServer)}>
            {texts.add}
          </Button>
        </div>
      )}
    </>
  )
}

type NewServer = McpServerChange & { readonly id?: undefined }

const newServer: NewServer = {
  kind: 'remote',
  name: '',
  enabled: true,
  toolsOff: [],
  url: '',
  auth: { kind: 'none' },
}

interface RowProps {
  readonly owner: McpOwner
  readonly saving: SaveServers
  readonly server: ShownMcpServer
  readonly signIn: McpSignIn | undefined
  readonly onEdit: () => void
}

function ServerRow({ owner, saving: { save, busy }, server, signIn, onEdit }: RowProps) {
  const { id, name } = server
  const [isConfirming, setConfirming] = useState(false)
  const change = (changed: Partial<Pick<ShownMcpServer, 'enabled' | 'toolsOff'>>) =>
    save((servers) => servers.map((one) => (one.id === id ? { ...one, ...changed } : one)))
  const onRemove = async () => {
    await save((servers) => servers.filter((one) => one.id !== id))
    setConfirming(false)
  }
  return (
    <>
      <div className="flex min-h-11 flex-wrap items-center gap-x-3">
        <div className="min-w-0 flex-1 basis-56">
          <p className="font-medium wrap-anywhere">{name}</p>
          <p className="font-mono text-meta text-muted wrap-anywhere">{whereOf(server)}</p>
        </div>
        <div className="flex items-center gap-x-3">
          <Checkbox checked={server.enabled} busy={busy} onChange={(enabled) => void change({ enabled })}>
            <span aria-hidden>{texts.used}</span>
            <span className="sr-only">{texts.use(name)}</span>
          </Checkbox>
          <IconButton data-opens={id} label={texts.edit(name)} icon={Pencil} onClick={onEdit} />
          <IconButton label={texts.remove(name)} icon={Trash2} onClick={() => setConfirming(true)} />
        </div>
      </div>
      {server.kind === 'remote' && (
        <McpServerTools
          owner={owner}
          server={server}
          signIn={signIn}
          busy={busy}
          onSwitch={(toolsOff) => void change({ toolsOff })}
        />
      )}
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={texts.removeTitle(name)}
        leave={texts.keep}
        confirm={texts.removeNow}
        isDangerous
        busy={busy}
        busyLabel={texts.removing}
        onConfirm={() => void onRemove()}
      >
        {texts.removeWhy}
      </ConfirmDialog>
    </>
  )
}

interface SuggestionsProps {
  readonly suggestions: readonly SuggestedMcpServer[]
  readonly onAdd: (draft: NewServer) => void
}

function Suggestions({ suggestions, onAdd }: SuggestionsProps) {
  return (
    <div>
      <p className="max-w-[72ch] text-ui text-muted">{texts.suggested}</p>
      <ul className="mt-2 divide-y divide-line-soft border-y border-line-soft">
        {suggestions.map((suggested) => (
          <li key={suggested.name} className="flex min-h-11 items-center gap-3 py-1">
            <div className="min-w-0 flex-1">
              <p className="font-medium wrap-anywhere">{suggested.name}</p>
              <p className="font-mono text-meta text-muted wrap-anywhere">{whereOf(suggested)}</p>
            </div>
            <Button
              data-opens={suggested.name}
              size="touch"
              aria-label={texts.addSuggested(suggested.name)}
              onClick={() => onAdd(draftOf(suggested))}
            >
              {texts.addShort}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  )
}

function whereOf(server: ShownMcpServer | SuggestedMcpServer): string {
  return server.kind === 'remote' ? server.url : [server.command, ...server.args].join(' ')
}

function draftOf(suggested: SuggestedMcpServer): NewServer {
  const common = { enabled: true, toolsOff: [] }
  if (suggested.kind === 'local') return { ...suggested, ...common }
  const { header, ...server } = suggested
  return { ...server, ...common, auth: header === null ? { kind: 'none' } : { kind: 'header', name: header } }
}
