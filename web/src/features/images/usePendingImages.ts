/** The images that are attached to what is being written: they are uploaded at once, and what they hold is given back. */
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import { useDispatch } from 'react-redux'
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import type { ShownImage } from '#domain/api/images.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { newId } from '../../api/newId.ts'
import { choose, imagesAtMost } from './acceptFiles.ts'
import { imagesApi } from './imagesApi.ts'
import { completedOf, pendingAfter, someAre, type PendingImage } from './pendingImages.ts'
import { texts } from './texts.ts'

export interface PendingImages {
  readonly images: readonly PendingImage[]
  readonly most: number
  /** Why something was not taken of the last that was given: a sentence for each reason. */
  readonly refused: readonly string[]
  readonly uploading: boolean
  readonly add: (files: readonly File[]) => void
  readonly retry: (id: string) => void
  readonly remove: (id: string) => void
  /** What can be sent now, in the order it was attached. */
  readonly completed: () => readonly ShownImage[]
  /** Comes when nothing is under way any more; whether all of it arrived. */
  readonly settled: () => Promise<boolean>
  /** Gives everything back: it was sent. */
  readonly clear: () => void
}

/** An upload under way, that can be broken off. */
type Uploading = ReturnType<ReturnType<typeof imagesApi.endpoints.uploadImage.initiate>>

export function usePendingImages(most: number = imagesAtMost.full): PendingImages {
  const dispatch = useDispatch<ThunkDispatch<unknown, unknown, UnknownAction>>()
  const [images, change] = useReducer(pendingAfter, [])
  const [refused, setRefused] = useState<readonly string[]>([])
  const under = useRef(new Map<string, Uploading>())
  // What is to be given back when the page goes, and how many there are before the next drawing.
  const held = useRef<readonly PendingImage[]>([])

  const apply = useCallback((event: Parameters<typeof pendingAfter>[1]) => {
    held.current = pendingAfter(held.current, event)
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
      under.current.set(id, sending)
      const { data, error } = await sending
      if (under.current.get(id) !== sending) return
      under.current.delete(id)
      apply({
        type: 'changed',
        id,
        upload:
          data === undefined
            ? { kind: 'error', reason: reasonOf(error, texts.failed) }
            : { kind: 'completed', image: shown(data) },
      })
    },
    [apply, dispatch],
  )

  const drop = useCallback(
    (ids: readonly string[]) => {
      for (const id of ids) {
        const sending = under.current.get(id)
        under.current.delete(id)
        sending?.abort()
      }
      for (const { id, preview } of held.current) if (ids.includes(id)) URL.revokeObjectURL(preview)
      apply({ type: 'removed', ids })
    },
    [apply],
  )
  const clear = useCallback(() => {
    setRefused([])
    drop(held.current.map(({ id }) => id))
  }, [drop])
  useEffect(() => clear, [clear])

  const add = useCallback(
    (files: readonly File[]) => {
      if (files.length === 0) return
      const { taken, refusals } = choose(files, held.current.length, most)
      setRefused(refusals)
      const added = taken.map((file): PendingImage => ({
        id: newId(),
        file,
        preview: URL.createObjectURL(file),
        upload: { kind: 'uploading', progress: 0 },
      }))
      apply({ type: 'attached', images: added })
      for (const image of added) void upload(image)
    },
    [apply, most, upload],
  )
  const retry = useCallback(
    (id: string) => {
      const image = held.current.find((one) => one.id === id)
      if (image?.upload.kind === 'error') void upload(image)
    },
    [upload],
  )
  const remove = useCallback(
    (id: string) => {
      setRefused([])
      drop([id])
    },
    [drop],
  )
  const completed = useCallback(() => completedOf(held.current), [])
  const settled = useCallback(async () => {
    while (under.current.size > 0) await Promise.all(under.current.values())
    // What is known of them is known to whoever waits here: the answer comes first.
    return !someAre(held.current, 'error')
  }, [])
  // The same object until something changes: what is drawn with it is drawn no oftener.
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

function shown({ id, url, name, size, type }: ShownImage): ShownImage {
  return { id, url, name, size, type }
}
