/** The keys of the replay. Escape applies outside of text fields and dialogs, the others only while the player or nothing has the focus. */
import { useLayoutEffect } from 'react'
import { takesText } from '../../../actions/keys.ts'
import { speeds, type HistorySession } from '../history/historySession.ts'
import { isComposingKey } from '../../../ui/isComposingKey.ts'

type Run = (session: HistorySession) => void

const indexOf = (session: HistorySession) => session.read().replay?.index ?? 0
const step =
  (by: number): Run =>
  (session) => {
    session.pause()
    session.seek(indexOf(session) + by)
  }
const move =
  (ms: number): Run =>
  (session) =>
    session.move(ms)
const toTenth =
  (tenth: number): Run =>
  (session) =>
    session.seekTo((session.read().axis.length * tenth) / 10)

export const playOrPause: Run = (session) => {
  if (session.read().replay?.playing) session.pause()
  else session.play()
}
export const previousEvent = step(-1)
export const nextEvent = step(1)

const turnsIn = (session: HistorySession) =>
  session.read().sections.map(({ revision }) => session.indexOf(revision))

export const nextTurn: Run = (session) => {
  const here = indexOf(session)
  const next = turnsIn(session).find((index) => index > here)
  session.seek(next ?? session.items().length - 1)
}
export const previousTurn: Run = (session) => {
  const here = indexOf(session)
  session.seek(turnsIn(session).findLast((index) => index < here) ?? 0)
}

const failuresIn = (session: HistorySession) =>
  session
    .read()
    .markers.filter(({ kind }) => kind === 'failure')
    .map(({ revision }) => session.indexOf(revision))

/** Pauses, and moves to the next or previous failure if there is one. */
const toFailure =
  (by: 1 | -1): Run =>
  (session) => {
    const here = indexOf(session)
    const failures = failuresIn(session)
    const found =
      by === 1 ? failures.find((index) => index > here) : failures.findLast((index) => index < here)
    session.pause()
    if (found !== undefined) session.seek(found)
  }
export const nextFailure = toFailure(1)
export const previousFailure = toFailure(-1)

const speed =
  (by: 1 | -1): Run =>
  (session) => {
    const now = session.read().replay?.speed ?? 1
    const at = speeds.findIndex((each) => each === now)
    session.setSpeed(speeds[Math.max(0, Math.min(at + by, speeds.length - 1))] ?? now)
  }

const keys: Readonly<Record<string, Run>> = {
  ' ': playOrPause,
  k: playOrPause,
  j: move(-10_000),
  l: move(10_000),
  arrowleft: move(-5_000),
  arrowright: move(5_000),
  'shift+arrowleft': previousTurn,
  'shift+arrowright': nextTurn,
  f: nextFailure,
  'shift+f': previousFailure,
  ',': previousEvent,
  '.': nextEvent,
  '<': speed(-1),
  '>': speed(1),
  home: (session) => session.seek(0),
  end: (session) => session.seek(session.items().length - 1),
  ...Object.fromEntries(Array.from({ length: 10 }, (_, tenth) => [String(tenth), toTenth(tenth)])),
}

export const showKeys = 'flightdeck:replay-keys'

export function useReplayKeys(session: HistorySession): void {
  // A layout effect, so that the keys work as soon as the player is visible.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { target } = event
      const isModified = event.ctrlKey || event.metaKey || event.altKey
      if (isComposingKey(event) || isModified || takesText(target) || document.querySelector('dialog[open]'))
        return
      if (event.key === 'Escape') {
        // It closes what is open in front of the replay.
        if (target instanceof Element && target.closest('[role=menu],[role=listbox],[role=dialog]')) return
        take(event)
        session.backToLive()
        return
      }
      if (!isMeant(target)) return
      // Lists, menus, toolbars and buttons handle these keys themselves.
      if (target instanceof Element && isOwn(target, event.key)) return
      if (event.key === '?') {
        take(event)
        window.dispatchEvent(new Event(showKeys))
        return
      }
      const run = keys[nameOf(event)]
      if (run === undefined) return
      take(event)
      run(session)
    }
    // `capture`, so that these keys take precedence over the page's other keys.
    window.addEventListener('keydown', onKeyDown, { capture: true })
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true })
  }, [session])
}

/** The name of a pressed key in `keys`. Shift is left out for characters other than letters, since some of them need it anyway. */
function nameOf({ key, shiftKey }: KeyboardEvent): string {
  const isSign = key.length === 1 && !/[a-z]/i.test(key)
  return `${shiftKey && !isSign ? 'shift+' : ''}${key.toLowerCase()}`
}

function take(event: KeyboardEvent): void {
  event.preventDefault()
  event.stopPropagation()
}

function isMeant(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return true
  return target === document.body || target.id === 'main' || target.closest('[data-replay-player]') !== null
}

function isOwn(target: Element, key: string): boolean {
  if (target.closest('[role=combobox],[role=listbox],[role=menu]')) return true
  if (target.closest('[role=toolbar]') && /^(Arrow|Home$|End$)/.test(key)) return true
  return key === ' ' && target.closest('button') !== null
}
