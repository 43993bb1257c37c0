/** Saving the audit record of a task: a file that anybody can check without this server. */
import { useCallback, useState } from 'react'
import { historyRoutes } from '#domain/api/history.ts'
import { pathOf } from '#domain/api/route.ts'
import type { ContentCategory } from '#domain/proof/auditBundle.ts'
import { readToken } from '../../api/tokenStore.ts'

/** The public download address of the program that verifies a record. */
export const verifierAddress = '/flightdeck-verify.mjs'

/** The file name for a saved record. */
export const auditFileOf = (taskId: string) => `audit-${taskId}.ndjson`

const notSaved = 'Failed to save the audit record'

/**
 * Fetches the audit record. The token must be in a header and never in an address, which is why this is not a link. Rejects with the sentence to
 * show.
 */
export async function fetchAudit(
  taskId: string,
  withhold: readonly ContentCategory[] = [],
  signal?: AbortSignal,
): Promise<Blob> {
  const query = withhold.length > 0 ? `?withhold=${withhold.join(',')}` : ''
  const headers = { authorization: `Bearer ${readToken() ?? ''}` }
  const response = await fetch(`/api${pathOf(historyRoutes.getTaskAudit.path, { taskId })}${query}`, {
    headers,
    ...(signal ? { signal } : {}),
  }).catch(() => undefined)
  if (response === undefined) throw new Error(notSaved)
  if (!response.ok) throw new Error(await reasonOf(response))
  // The body rejects when the record is cut off: an incomplete file must not be saved.
  return response.blob().catch(() => Promise.reject(new Error(notSaved)))
}

async function reasonOf(response: Response): Promise<string> {
  const said: unknown = await response.json().catch(() => undefined)
  return typeof said === 'object' && said !== null && 'error' in said && typeof said.error === 'string'
    ? said.error
    : notSaved
}

export interface SaveAudit {
  /** Fetches the record and has the browser save it. */
  readonly save: (withhold?: readonly ContentCategory[]) => Promise<void>
  readonly isSaving: boolean
  /** Why the last attempt failed; `null` when it did not. */
  readonly failure: string | null
}

export function useSaveAudit(taskId: string): SaveAudit {
  const [isSaving, setSaving] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const save = useCallback(
    async (withhold: readonly ContentCategory[] = []) => {
      setSaving(true)
      setFailure(null)
      try {
        saveAs(await fetchAudit(taskId, withhold), auditFileOf(taskId))
      } catch (fault) {
        setFailure(fault instanceof Error ? fault.message : notSaved)
      } finally {
        setSaving(false)
      }
    },
    [taskId],
  )
  return { save, isSaving, failure }
}

/** Offers a file for saving, under a name. */
export function saveAs(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
