/** Keeps a scrolling box at its end while things are added, unless the person has scrolled away from it. */
import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'

/** Pixels from the end that still count as being there. */
const near = 24

interface FollowEnd {
  readonly box: RefObject<HTMLDivElement | null>
  /** What grows inside the box. */
  readonly content: RefObject<HTMLDivElement | null>
  readonly following: boolean
  readonly onScroll: () => void
  readonly jumpToEnd: () => void
  /** Ends the following: something else is shown than the end. */
  readonly stay: () => void
}

export function useFollowEnd(): FollowEnd {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const [following, setFollowing] = useState(true)
  // Read by the observer, which must not wait for a render.
  const follows = useRef(true)
  const lastTop = useRef(0)

  const follow = useCallback((value: boolean) => {
    follows.current = value
    setFollowing(value)
  }, [])
  const toEnd = useCallback(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [])

  useEffect(() => {
    const grown = new ResizeObserver(() => {
      if (follows.current) toEnd()
    })
    if (box.current !== null) grown.observe(box.current)
    if (content.current !== null) grown.observe(content.current)
    return () => grown.disconnect()
  }, [toEnd])

  return {
    box,
    content,
    following,
    onScroll: () => {
      const view = box.current
      // A hidden box has no end to be at.
      if (view === null || view.clientHeight === 0) return
      const atEnd = view.scrollHeight - view.scrollTop - view.clientHeight < near
      // What grows below leaves the end behind as well: only somebody who scrolls back up stays there.
      if (atEnd) follow(true)
      else if (view.scrollTop < lastTop.current) follow(false)
      lastTop.current = view.scrollTop
    },
    stay: () => follow(false),
    jumpToEnd: () => {
      follow(true)
      toEnd()
    },
  }
}
