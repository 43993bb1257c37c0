/** Side effects of a page change: the scroll position, the focus, and the page-view count. */
import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router-dom'

interface RouteEffectsProps {
  /** Called for every viewed page with the path only, because a query may contain private data. */
  readonly onPageView: (path: string) => void
}

export function RouteEffects({ onPageView }: RouteEffectsProps) {
  // The history of a task is part of its page.
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
    // Otherwise a screen reader would continue from a link that no longer exists.
    document.getElementById('main')?.focus({ preventScroll: true })
  }, [pathname, onPageView])
  return null
}
