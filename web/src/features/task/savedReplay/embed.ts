/** Embeds a recording in the page that plays it. */
import type { Recording } from './recording.ts'

/** Where the page contains its recording, as written by `vite.replay.config.ts`. */
const place = '<script type="application/json" id="recording">'

/** The parts of the file, in order. Throws when the page is not the player. */
export function withRecording(page: string, recording: Recording): readonly string[] {
  const at = page.indexOf(place)
  if (at === -1) throw new Error('This page is not the player of replays.')
  const end = at + place.length
  // `<` is escaped, so that no text in it can close the script element.
  const json = JSON.stringify(recording).replaceAll('<', String.raw`\u003c`)
  return [page.slice(0, end), json, page.slice(end)]
}
