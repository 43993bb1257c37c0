/** Sets the browser tab's title: a count, then the page's title. The count is of tasks that wait for the person or, without any, of running tasks. */
import { useEffect } from 'react'
import { useRunningCount, useWaitingCount } from './useRunningCount.ts'
import { brand } from '../../ui/text/Brand.tsx'

export function usePageTitle(title: string | undefined): void {
  const running = useRunningCount()
  const waiting = useWaitingCount()
  useEffect(() => {
    const name = title === undefined ? brand : `${title} · ${brand}`
    const count = waiting > 0 ? `(${waiting} waiting) ` : running > 0 ? `(${running}) ` : ''
    document.title = count + name
  }, [title, running, waiting])
}
