/** A button that saves a file from the API. A failure is shown as a notification. */
import { Download } from 'lucide-react'
import { useDispatch } from 'react-redux'
import type { ApiCall } from '../../api/request.ts'
import { useDownload } from '../../api/useDownload.ts'
import { Button } from '../../ui/form/Button.tsx'
import { notifiedFailure } from '../notifications/notifications.ts'

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
