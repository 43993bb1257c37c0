/** Saves the replay of a task as one file that opens without a server. */
import { useCallback, useState } from 'react'
import { useDispatch } from 'react-redux'
import { notified } from '../../notifications/notifications.ts'
import { saveAs } from '../audit.ts'
import type { HistorySession } from '../history/historySession.ts'
import { withRecording } from './embed.ts'
import { texts } from './texts.ts'

/** The player page, with a placeholder for the recording. */
const playerAddress = '/replay.html'

/** Has the browser save the file; a failure is shown as a toast. */
export function useSaveReplay(session: HistorySession): {
  readonly save: () => void
  readonly isSaving: boolean
} {
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

async function fetchPlayer(): Promise<string> {
  const answer = await fetch(playerAddress)
  if (!answer.ok) throw new Error(texts.notSaved)
  return answer.text()
}
