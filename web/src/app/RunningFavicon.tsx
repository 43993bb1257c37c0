/** The number of running tasks on the icon in the browser's tab; the plain icon when there is none. Shows nothing in the page. */
import { useEffect } from 'react'
import { useRunningCount } from '../features/tasks/useRunningCount.ts'
import { badgedIcon } from './badgedIcon.ts'

const plain = '/favicon.svg'

export function RunningFavicon() {
  const running = useRunningCount()
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const wanted = running === 0 ? plain : badgedIcon(running)
    // A browser draws it anew each time it is set, with a flicker.
    if (link !== null && link.getAttribute('href') !== wanted) link.setAttribute('href', wanted)
  }, [running])
  // Who is logged out has nothing that runs.
  useEffect(() => () => document.querySelector('link[rel=icon]')?.setAttribute('href', plain), [])
  return null
}
