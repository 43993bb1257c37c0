/** What a change of page does besides showing it: where the page stands, where the focus is, who is told. */
import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router-dom'

interface RouteEffectsProps {
  /** Told of every page that is viewed, by its path alone: a query may hold what is nobody's business. */
  readonly onPageView: (path: string) => void
}

export function RouteEffects({ onPageView }: RouteEffectsProps) {
  // The history of a task is a part of its page.
  const pathname = useLocation().pathname.replace('/history', '')
  const before = useRef('')
  useEffect(() => {
    const from = before.current
    before.current = pathname
    if (from === pathname) return
    onPageView(pathname)
    if (!from) return
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches
    scrollTo({ top: 0, behavior: from.startsWith('/tasks/') && !calm ? 'smooth' : 'instant' })
    // A screen reader goes on from the new page's beginning, not from a link that is gone.
    document.getElementById('main')?.focus({ preventScroll: true })
  }, [pathname, onPageView])
  return null
}
