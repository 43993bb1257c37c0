/** The images attached to an unsent message. Images are uploaded as soon as they are attached, and released when they are removed or sent. */
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import { useDispatch } from 'react-redux'
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import type { ShownImage } from '#domain/api/images.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { newId } from '../../api/newId.ts'
import { choose, maxImages } from './acceptFiles.ts'
import { imagesApi } from './imagesApi.ts'
import { completedOf, pendingAfter, someAre, type PendingImage } from './pendingImages.ts'
import { texts } from './texts.ts'

export interface PendingImages {
  readonly images: readonly PendingImage[]
  readonly most: number
  /** A sentence for each reason why files of the last selection were refused. */
  readonly refused: readonly string[]
  readonly uploading: boolean
  readonly add: (files: readonly File[]) => void
  readonly retry: (id: string) => void
  readonly remove: (...ids: readonly string[]) => void
  /** The uploaded images, in the order in which they were attached. */
  readonly completed: () => readonly ShownImage[]
  /** Waits until no upload is under way. Resolves to whether all uploads succeeded. */
  readonly settled: () => Promise<boolean>
  /** Releases all images, after they were sent. */
  readonly clear: () => void
}

type Uploading = ReturnType<ReturnType<typeof imagesApi.endpoints.uploadImage.initiate>>

export function usePendingImages(most: number = maxImages.full): PendingImages {
  const { images, imagesNow, apply, upload, drop, settled } = useUploads()
  const [refused, setRefused] = useState<readonly string[]>([])
  const clear = useCallback(() => {
    setRefused([])
    drop(imagesNow().map(({ id }) => id))
  }, [imagesNow, drop])
  useEffect(() => clear, [clear])
  const add = useCallback(
    (files: readonly File[]) => {
      if (files.length === 0) return
      const { accepted, refusals } = choose(files, imagesNow().length, most)
      setRefused(refusals)
      const added = accepted.map((file): PendingImage => ({
        id: newId(),
        file,
        preview: URL.createObjectURL(file),
        upload: { kind: 'uploading', progress: 0 },
      }))
      apply({ type: 'attached', images: added })
      for (const image of added) void upload(image)
    },
    [apply, imagesNow, most, upload],
  )
  const retry = useCallback(
    (id: string) => {
      const image = imagesNow().find((one) => one.id === id)
      if (image?.upload.kind === 'error') void upload(image)
    },
    [imagesNow, upload],
  )
  const remove = useCallback(
    (...ids: readonly string[]) => {
      setRefused([])
      drop(ids)
    },
    [drop],
  )
  const completed = useCallback(() => completedOf(imagesNow()), [imagesNow])
  // Returns the same object until something changes, so that components that depend on it render no more often.
  return useMemo(
    () => ({
      images,
      most,
      refused,
      uploading: someAre(images, 'uploading'),
      add,
      retry,
      remove,
      completed,
      settled,
      clear,
    }),
    [images, most, refused, add, retry, remove, completed, settled, clear],
  )
}

/** The images and their uploads. The callbacks never change. */
function useUploads() {
  const dispatch = useDispatch<ThunkDispatch<unknown, unknown, UnknownAction>>()
  const [images, change] = useReducer(pendingAfter, [])
  const uploads = useRef(new Map<string, Uploading>())
  // The current images, which the state only shows from the next render on.
  const imagesRef = useRef<readonly PendingImage[]>([])

  const apply = useCallback((event: Parameters<typeof pendingAfter>[1]) => {
    imagesRef.current = pendingAfter(imagesRef.current, event)
    change(event)
  }, [])
  const upload = useCallback(
    async ({ id, file }: PendingImage) => {
      apply({ type: 'changed', id, upload: { kind: 'uploading', progress: 0 } })
      const onProgress = (progress: number) =>
        apply({ type: 'changed', id, upload: { kind: 'uploading', progress } })
      const sending = dispatch(
        imagesApi.endpoints.uploadImage.initiate({ file, key: id, onProgress }, { track: false }),
      )
      uploads.current.set(id, sending)
      const { data, error } = await sending
      if (uploads.current.get(id) !== sending) return
      uploads.current.delete(id)
      apply({
        type: 'changed',
        id,
        upload:
          data === undefined
            ? { kind: 'error', reason: reasonOf(error, texts.failed) }
            : { kind: 'completed', image: pickImage(data) },
      })
    },
    [apply, dispatch],
  )
  const drop = useCallback(
    (ids: readonly string[]) => {
      for (const id of ids) {
        const sending = uploads.current.get(id)
        uploads.current.delete(id)
        sending?.abort()
      }
      for (const { id, preview } of imagesRef.current) if (ids.includes(id)) URL.revokeObjectURL(preview)
      apply({ type: 'removed', ids })
    },
    [apply],
  )
  const settled = useCallback(async () => {
    while (uploads.current.size > 0) await Promise.all(uploads.current.values())
    return !someAre(imagesRef.current, 'error')
  }, [])
  const imagesNow = useCallback(() => imagesRef.current, [])
  return { images, imagesNow, apply, upload, drop, settled }
}

function pickImage({ id, url, name, size, type }: ShownImage): ShownImage {
  return { id, url, name, size, type }
}

/** `sendWhenUploaded` waits until all uploads are complete, then sends. `stopped` says that an upload failed meanwhile, so that nothing was sent. */
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
