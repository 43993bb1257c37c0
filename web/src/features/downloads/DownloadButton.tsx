/** Saves files on the person's computer. A button fetches a file from the API, and shows a failure as a notification. */
import { Download } from 'lucide-react'
import { useDispatch } from 'react-redux'
import { useState } from 'react'
import { type ApiCall, addressOf, answerOf } from '../../api/request.ts'
import { Button } from '../../ui/form/Button.tsx'
import { notifiedFailure } from '../notifications/notifications.ts'
import { signedIn } from '../../api/baseQuery.ts'
import type { ApiFault } from '../../api/fault.ts'

interface DownloadButtonProps {
  readonly call: ApiCall
  /** The name of the saved file. */
  readonly file: string
  readonly label: string
  readonly busyLabel: string
}

export function DownloadButton({ call, file, label, busyLabel }: DownloadButtonProps) {
  const dispatch = useDispatch()
  const { save, isSaving } = useDownload()
  const onClick = async () => {
    const fault = await save(call, file)
    if (fault !== null) dispatch(notifiedFailure(call.fallback, fault))
  }
  return (
    <Button
      size="touch"
      icon={<Download />}
      busy={isSaving}
      busyLabel={busyLabel}
      onClick={() => void onClick()}
    >
      {label}
    </Button>
  )
}

/** The time limit of a download, in milliseconds. The server may take minutes to build the file of a long history. */
const downloadTimeoutMs = 600_000

interface DownloadState {
  /** Resolves with the fault, or with `null` once the browser has the file. */
  readonly save: (call: ApiCall, name: string) => Promise<ApiFault | null>
  readonly isSaving: boolean
}

/** Saves a file from the API: it is fetched with the token, which a link cannot carry, and then handed to the browser. */
export function useDownload(): DownloadState {
  const dispatch = useDispatch()
  const [isSaving, setSaving] = useState(false)
  const save: DownloadState['save'] = async (call, name) => {
    setSaving(true)
    const answer = await signedIn(call.path, dispatch, (token) => fetchFile(call, token))
    setSaving(false)
    if ('error' in answer) return answer.error
    if (answer.data instanceof Blob) saveFile(answer.data, name)
    return null
  }
  return { save, isSaving }
}

async function fetchFile(call: ApiCall, token: string) {
  const timeout = AbortSignal.timeout(downloadTimeoutMs)
  try {
    const response = await fetch(addressOf(call), {
      headers: { authorization: `Bearer ${token}` },
      signal: timeout,
    })
    if (!response.ok) return answerOf(response.status, await response.text(), call.fallback)
    return { data: await response.blob() }
  } catch {
    const code = timeout.aborted ? 'timeout' : 'offline'
    return { error: { status: null, code, message: call.fallback, field: null } }
  }
}

/** Hands a file to the browser to save it. */
export function saveFile(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Some browsers read the address some time after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
