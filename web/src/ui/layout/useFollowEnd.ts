/** Keeps a scrolling box at its end as content is added, unless the person has scrolled away. */
import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'

/** How many pixels from the end still count as the end. */
const near = 24

interface FollowEnd {
  readonly box: RefObject<HTMLDivElement | null>
  /** The growing content of the box. */
  readonly content: RefObject<HTMLDivElement | null>
  readonly following: boolean
  readonly onScroll: () => void
  readonly jumpToEnd: () => void
  /** Stops following, in order to show something other than the end. */
  readonly stay: () => void
}

export function useFollowEnd(): FollowEnd {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const [following, setFollowing] = useState(true)
  // A ref, because the observer reads it without waiting for a render.
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
      // A hidden box has no height, so it has no end.
      if (view === null || view.clientHeight === 0) return
      const atEnd = view.scrollHeight - view.scrollTop - view.clientHeight < near
      // New content also moves the end away, so only scrolling up stops the following.
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
