/** Sets the title of the browser's tab: the page's title after the number of running tasks. */
import { useEffect } from 'react'
import { useRunningCount } from './useRunningCount.ts'
import { brand } from '../../ui/text/Brand.tsx'

export function usePageTitle(title: string | undefined): void {
  const running = useRunningCount()
  useEffect(() => {
    const name = title === undefined ? brand : `${title} · ${brand}`
    document.title = running > 0 ? `(${running}) ${name}` : name
  }, [title, running])
}
