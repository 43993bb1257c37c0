/** Saves the replay of a task as one file that opens without a server. */
import { useCallback, useState } from 'react'
import { useDispatch } from 'react-redux'
import { saveFile } from '../../downloads/DownloadButton.tsx'
import { notified } from '../../notifications/notifications.ts'
import type { HistorySession } from '../history/historySession.ts'
import { texts } from './texts.ts'
import type { Recording } from './recording.ts'

/** The player page, with a placeholder for the recording. */
const playerAddress = '/replay.html'

/** Returns `save`, which saves the replay as a file and shows a failure as a toast. */
export function useSaveReplay(session: Pick<HistorySession, 'record'>) {
  const dispatch = useDispatch()
  const [isSaving, setSaving] = useState(false)
  const save = useCallback(async () => {
    setSaving(true)
    try {
      const [page, recording] = await Promise.all([fetchPlayer(), session.record()])
      if ('reason' in recording) dispatch(notified('error', texts.notSaved, recording.reason))
      else
        saveFile(
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

/** The element of the player page into which the recording is written; `vite.replay.config.ts` creates the element. */
const place = '<script type="application/json" id="recording">'

/** The player page with the recording in it, as parts in order. Throws when the page is not the player. */
export function withRecording(page: string, recording: Recording): readonly string[] {
  const at = page.indexOf(place)
  if (at === -1) throw new Error('This page is not the player of replays.')
  const end = at + place.length
  // `<` is escaped, so that no text in the recording can close the script element.
  const json = JSON.stringify(recording).replaceAll('<', String.raw`\u003c`)
  return [page.slice(0, end), json, page.slice(end)]
}
