/** The title of the page in the browser's tab, with the number of running tasks before it. */
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
