/** Saving the audit record of a task: a file that anybody can check without this server. */
import { useState } from 'react'
import { historyRoutes } from '#domain/api/history.ts'
import type { getTaskAudit } from '#domain/api/history.schema.ts'
import type { ContentCategory } from '#domain/proof/auditBundle.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { useDownload } from '../../../api/useDownload.ts'

/** The public download address of the program that verifies a record. */
export const verifierAddress = '/flightdeck-verify.mjs'

export const auditFileOf = (taskId: string) => `audit-${taskId}.ndjson`

/** `failure`: why the last attempt failed; `null` when it did not. */
export function useSaveAudit(taskId: string) {
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
