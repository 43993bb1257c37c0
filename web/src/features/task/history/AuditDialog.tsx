/** The dialog to save the audit record of a task, whole or with parts withheld, and two ways to check it: by commands, or here by the page. */
import { Copy } from 'lucide-react'
import { useState } from 'react'
import type { ContentCategory } from '#domain/proof/auditBundle.ts'
import { historyRoutes } from '#domain/api/history.ts'
import type { getTaskAudit } from '#domain/api/history.schema.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Checkbox } from '../../../ui/form/Choice.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Dialog } from '../../../ui/overlay/Dialog.tsx'
import { useCopy } from '../useCopy.ts'
import { CheckFile } from './CheckFile.tsx'
import { useTaskRecordQuery } from './taskRecord.ts'
import { recordTexts } from './recordTexts.ts'
import { texts } from './texts.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { useDownload } from '../../downloads/DownloadButton.tsx'

const words = texts.audit
const categories = ['prompts', 'answers', 'tools', 'output', 'details'] as const satisfies ContentCategory[]

export function AuditDialog({ taskId, onClose }: { readonly taskId: string; readonly onClose: () => void }) {
  const [withheld, setWithheld] = useState<readonly ContentCategory[]>([])
  const { save, isSaving, failure } = useSaveAudit(taskId)
  const key = useTaskRecordQuery(taskId).data?.key ?? null
  return (
    <Dialog
      open
      onClose={onClose}
      title={words.title}
      actions={<Button onClick={onClose}>{words.leave}</Button>}
    >
      {/* The first paragraph gets the focus, because focusing the button at the end would scroll this long dialog down. */}
      <p tabIndex={-1} data-safe="" className="outline-none">
        {words.why}
      </p>
      <fieldset className="mt-4 grid text-text">
        <legend className="text-ui font-semibold">{words.withhold}</legend>
        {categories.map((category) => (
          <Checkbox
            key={category}
            checked={withheld.includes(category)}
            onChange={(checked) =>
              setWithheld(checked ? [...withheld, category] : withheld.filter((one) => one !== category))
            }
          >
            {words.categories[category]}
          </Checkbox>
        ))}
      </fieldset>
      <p className="mt-2 text-meta">{words.stillVerifies}</p>
      <Button kind="primary" className="mt-3 max-md:h-11" busy={isSaving} onClick={() => void save(withheld)}>
        {words.save}
      </Button>
      {failure !== null && (
        <Note kind="error" className="mt-3">
          {failure}
        </Note>
      )}
      <section className="mt-5 border-t border-line-soft pt-4">
        <h3 className="text-ui font-semibold text-text">{recordTexts.command.title}</h3>
        <Command taskId={taskId} ownKey={key} />
      </section>
      <section className="mt-5 border-t border-line-soft pt-4">
        <h3 className="mb-2 text-ui font-semibold text-text">{recordTexts.file.title}</h3>
        <CheckFile taskId={taskId} ownKey={key} />
      </section>
    </Dialog>
  )
}

/** The commands that check the saved record, and the output to expect from them. */
function Command({ taskId, ownKey }: { readonly taskId: string; readonly ownKey: string | null }) {
  const copy = useCopy()
  const { command } = recordTexts
  if (ownKey === null) return <p className="mt-1 text-meta">{command.noKey}</p>
  const program = verifierAddress.slice(1)
  const lines = `curl -sSO ${window.location.origin}${verifierAddress}
node ${program} ${auditFileOf(taskId)} --key "${ownKey}" --seal seals.ndjson`
  return (
    <div className="mt-1 grid gap-1.5 text-meta">
      <p>{command.says}</p>
      <div className="flex items-start rounded-control bg-raised">
        <pre className="mono min-w-0 flex-1 px-2.5 py-2 text-tiny break-all whitespace-pre-wrap text-text">
          {lines}
        </pre>
        <IconButton icon={Copy} label={command.copy} size="small" onClick={() => copy(lines)} />
      </div>
      <p>
        {command.expected} <code className="mono text-text">{command.first}</code>
      </p>
      <p>{command.seals}</p>
    </div>
  )
}

/** The public download address of the program that verifies a record. */
const verifierAddress = '/flightdeck-verify.mjs'

const auditFileOf = (taskId: string) => `audit-${taskId}.ndjson`

/** Saves the record as a file that anybody can check without this server. `failure` is the reason why the last attempt failed, or `null`. */
function useSaveAudit(taskId: string) {
  const download = useDownload()
  const [failure, setFailure] = useState<string | null>(null)
  const save = async (withhold: readonly ContentCategory[]) => {
    setFailure(null)
    const call = requestOf<typeof getTaskAudit>(historyRoutes.getTaskAudit, {
      params: { taskId },
      query: { withhold: withhold.length > 0 ? withhold.join(',') : undefined },
      fallback: 'Failed to save the audit record',
    })
    const fault = await download.save(call, auditFileOf(taskId))
    setFailure(fault?.message ?? null)
  }
  return { save, isSaving: download.isSaving, failure }
}
