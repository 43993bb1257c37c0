/** Puts a recording into the page that plays it. */
import type { Recording } from './recording.ts'

/** Where the page has its recording. `vite.replay.config.ts` writes it. */
const place = '<script type="application/json" id="recording">'

/** The parts of the file, in order. Throws when the page is not the player. */
export function withRecording(page: string, recording: Recording): readonly string[] {
  const at = page.indexOf(place)
  if (at === -1) throw new Error('This page is not the player of replays.')
  const end = at + place.length
  return [page.slice(0, end), asScriptText(recording), page.slice(end)]
}

/** JSON without `<`: no text in it can end the element that it stands in. */
function asScriptText(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', String.raw`\u003c`)
}
