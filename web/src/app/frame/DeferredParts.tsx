/** Parts of the frame that pages do not wait for, in a chunk of their own. */
import { useEffect } from 'react'
import { useDispatch } from 'react-redux'
import { api } from '../../api/api.ts'
import { notified, selectNotifications } from '../../features/notifications/notifications.ts'
import { DesktopNotifications } from '../../features/notifications/DesktopNotifications.tsx'
import { useRunningCount, useWaitingCount } from '../../features/tasks/useRunningCount.ts'
import { useAppStore } from '../../state/hooks.ts'
import { useWindowEvent } from '../../ui/hooks.ts'
import { ChunkLoadError } from '../../ui/inTime.ts'
import { texts } from '../texts.ts'

export function DeferredParts() {
  return (
    <>
      <RunningFavicon />
      <DesktopNotifications />
      <PollingPause />
      <MissingParts />
    </>
  )
}

const plain = '/favicon.svg'

/** Shows on the tab's icon how many tasks wait for the person or, if none waits, how many run. Renders nothing. */
export function RunningFavicon() {
  const running = useRunningCount()
  const waiting = useWaitingCount()
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const icon = waiting > 0 ? badgedIcon(waiting, 'warn') : running > 0 ? badgedIcon(running) : plain
    // Setting the same icon again makes the browser redraw it with a flicker.
    if (link !== null && link.getAttribute('href') !== icon) link.setAttribute('href', icon)
  }, [running, waiting])
  // After sign-out, the tab has the plain icon, since nothing is running for the person.
  useEffect(() => () => document.querySelector('link[rel=icon]')?.setAttribute('href', plain), [])
  return null
}

/** Pauses polling while the page is hidden, for reads with `skipPollingIfUnfocused`. Renders nothing. */
function PollingPause() {
  const dispatch = useDispatch()
  useEffect(() => {
    const { onFocus, onFocusLost } = api.internalActions
    const follow = () => void dispatch(document.hidden ? onFocusLost() : onFocus())
    // The page may have been opened in the background.
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => document.removeEventListener('visibilitychange', follow)
  }, [dispatch])
  return null
}

/** Tells the person that a part of the page failed to load. Renders nothing. */
function MissingParts() {
  const { dispatch, getState } = useAppStore()
  useWindowEvent('error', (event) => {
    if (!(event.error instanceof ChunkLoadError)) return
    // The browser would report the error in its console, as one that nobody handled.
    event.preventDefault()
    // Offline, several parts may fail at once.
    const isTold = selectNotifications(getState()).some(({ title }) => title === texts.chunkMissing)
    if (!isTold) dispatch(notified('error', texts.chunkMissing, texts.chunkMissingWhy))
  })
  return null
}

const maxCount = 9
/** The colours of the badge in the light and in the dark theme. */
const badges = { run: ['#0b5cad', '#79b8ff'], warn: ['#835200', '#f0b849'] } as const

/** The product's icon with a number on it, as the address of an image. The colours are those of favicon.svg, and of `--run` or `--warn`. */
export function badgedIcon(count: number, colour: keyof typeof badges = 'run'): string {
  const label = count > maxCount ? `${maxCount}+` : String(count)
  const [light, dark] = badges[colour]
  const image = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><style>.m{fill:#16181d}.b{fill:${light}}.n{fill:#fff}@media(prefers-color-scheme:dark){.m{fill:#eceef1}.b{fill:${dark}}.n{fill:#0e1013}}</style><path class="m" d="M9 5.5 16.5 22 9 18.2 1.5 22Z"/><circle class="b" cx="16" cy="8" r="8"/><text class="n" x="16" y="12.2" font-family="sans-serif" font-size="${label.length > 1 ? 9.5 : 12}" font-weight="700" text-anchor="middle">${label}</text></svg>`
  return `data:image/svg+xml,${encodeURIComponent(image)}`
}
