/** Saves the replay of a task as one file that opens without a server. */
import { useCallback, useState } from 'react'
import { useDispatch } from 'react-redux'
import { notified } from '../../notifications/notifications.ts'
import type { HistorySession } from '../history/historySession.ts'
import { withRecording } from './embed.ts'
import { texts } from './texts.ts'

/** The player page, with a placeholder for the recording. */
const playerAddress = '/replay.html'

/** Has the browser save the file; a failure is shown as a toast. */
export function useSaveReplay(session: HistorySession) {
  const dispatch = useDispatch()
  const [isSaving, setSaving] = useState(false)
  const save = useCallback(async () => {
    setSaving(true)
    try {
      const [page, recording] = await Promise.all([fetchPlayer(), session.record()])
      if ('reason' in recording) dispatch(notified('error', texts.notSaved, recording.reason))
      else
        saveAs(
          new Blob([...withRecording(page, recording)], { type: 'text/html' }),
          `replay-${recording.base.id}.html`,
        )
    } catch {
      dispatch(notified('error', texts.notSaved))
    } finally {
      setSaving(false)
    }
  }, [dispatch, session])
  return { save: () => void save(), isSaving }
}

function saveAs(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

async function fetchPlayer(): Promise<string> {
  const answer = await fetch(playerAddress)
  if (!answer.ok) throw new Error(texts.notSaved)
  return answer.text()
}
