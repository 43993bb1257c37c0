/** Sends a message once every image is uploaded. A failed upload stops it, so that no message goes without one of its images. */
import { useEffect, useRef, useState } from 'react'
import { someAre } from './pendingImages.ts'
import type { PendingImages } from './usePendingImages.ts'

/** `sendWhenUploaded` sends now, or as soon as the uploads are complete; `stopped` when it waited and an image failed. */
export function useWhenUploaded({ images, uploading, settled }: PendingImages, send: () => void) {
  const [state, setState] = useState<'idle' | 'waiting' | 'stopped'>('idle')
  // `null` once the component is unmounted, after which nothing is sent.
  const latest = useRef<(() => void) | null>(null)
  useEffect(() => {
    latest.current = send
    return () => {
      latest.current = null
    }
  })
  const sendWhenUploaded = async () => {
    if (uploading) {
      setState('waiting')
      if (!(await settled())) return setState('stopped')
    }
    setState('idle')
    latest.current?.()
  }
  return {
    waiting: state === 'waiting',
    stopped: state === 'stopped' && someAre(images, 'error'),
    sendWhenUploaded: () => void sendWhenUploaded(),
  }
}
