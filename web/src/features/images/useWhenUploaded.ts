/** Sends once every image is uploaded; what fails on the way stops it, so that nothing goes without an image that was meant. */
import { useEffect, useRef, useState } from 'react'
import { someAre } from './pendingImages.ts'
import type { PendingImages } from './usePendingImages.ts'

interface WhenUploaded {
  /** It was asked for, and waits. */
  readonly waiting: boolean
  /** It waited, and an image failed. */
  readonly stopped: boolean
  /** Sends now, or as soon as the uploads that are under way are done. */
  readonly ask: () => void
}

export function useWhenUploaded(
  { images, uploading, settled }: PendingImages,
  send: () => void,
): WhenUploaded {
  const [asked, setAsked] = useState<'no' | 'waiting' | 'stopped'>('no')
  // `null` once the page has gone: nothing is sent from there.
  const latest = useRef<(() => void) | null>(null)
  useEffect(() => {
    latest.current = send
    return () => {
      latest.current = null
    }
  })
  const ask = async () => {
    if (uploading) {
      setAsked('waiting')
      if (!(await settled())) return setAsked('stopped')
    }
    setAsked('no')
    latest.current?.()
  }
  return {
    waiting: asked === 'waiting',
    stopped: asked === 'stopped' && someAre(images, 'error'),
    ask: () => void ask(),
  }
}
