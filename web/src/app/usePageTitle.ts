/** The title of the page in the browser's tab, with the number of running tasks before it. */
import { useEffect } from 'react'
import { useRunningCount } from '../features/tasks/useRunningCount.ts'
import { texts } from './texts.ts'

export function usePageTitle(title: string | undefined): void {
  const running = useRunningCount()
  useEffect(() => {
    const name = title === undefined ? texts.brand : `${title} · ${texts.brand}`
    document.title = running > 0 ? `(${running}) ${name}` : name
  }, [title, running])
}
