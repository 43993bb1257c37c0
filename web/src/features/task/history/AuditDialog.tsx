/** Saves the audit record of a task, whole or without what somebody should not read. */
import { useState } from 'react'
import type { ContentCategory } from '#domain/proof/auditBundle.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Checkbox } from '../../../ui/form/Choice.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Dialog } from '../../../ui/overlay/Dialog.tsx'
import { useSaveAudit, verifierAddress } from '../audit.ts'
import { texts } from './texts.ts'

const words = texts.audit
const categories = ['prompts', 'answers', 'tools', 'output', 'details'] as const satisfies ContentCategory[]

export function AuditDialog({ taskId, onClose }: { readonly taskId: string; readonly onClose: () => void }) {
  const [withheld, setWithheld] = useState<readonly ContentCategory[]>([])
  const { save, isSaving, failure } = useSaveAudit(taskId)
  return (
    <Dialog
      open
      onClose={onClose}
      title={words.title}
      actions={
        <>
          <Button data-safe onClick={onClose}>
            {words.leave}
          </Button>
          <Button kind="primary" busy={isSaving} onClick={() => void save(withheld)}>
            {words.save}
          </Button>
        </>
      }
    >
      <p>{words.why}</p>
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
      <p className="mt-3 text-meta text-muted">
        {words.verify}{' '}
        <a href={verifierAddress} download className="text-accent hover:underline">
          {words.verifier}
        </a>
      </p>
      {failure !== null && (
        <Note kind="error" className="mt-3">
          {failure}
        </Note>
      )}
    </Dialog>
  )
}
