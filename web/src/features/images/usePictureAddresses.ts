/**
 * Where pictures are, in one place. An address is good for some minutes: one that shows nothing any more is asked for
 * again, and so is one that was never said.
 */
import { useState } from 'react'
import type { ShownImage } from '#domain/api/images.schema.ts'
import type { NamedImage } from '#domain/task/commands.ts'
import { useImageAddressesQuery } from './imagesApi.ts'

export interface Addressed {
  readonly picture: Picture
  /** `null`: it is asked for, or cannot be shown. */
  readonly url: string | null
  readonly missing: boolean
  /** To be called when the address shows nothing. */
  readonly onFailed: () => void
}

/** How many addresses of one picture may fail before it is given up. */
const tries = 3

export function usePictureAddresses(taskId: string, pictures: readonly Picture[]): readonly Addressed[] {
  const [failed, setFailed] = useState<ReadonlyMap<string, readonly string[]>>(new Map())
  const failedOf = (id: string) => failed.get(id) ?? []
  const asks = pictures.some(({ id, url }) => url === null || failedOf(id).includes(url))
  const { data, isFetching, refetch } = useImageAddressesQuery(taskId, { skip: !asks })
  return pictures.map((picture) => {
    const before = failedOf(picture.id)
    const fresh = data?.[picture.id]
    const url = [picture.url, fresh].find((one) => one && !before.includes(one)) ?? null
    return {
      picture,
      url,
      missing: before.length >= tries || (url === null && asks && !isFetching),
      onFailed: () => {
        if (url === null || before.length >= tries) return
        // Several may fail before the next drawing, and none of them says so twice.
        setFailed((known) => {
          const already = known.get(picture.id) ?? []
          return already.includes(url) ? known : new Map(known).set(picture.id, [...already, url])
        })
        if (url === fresh) void refetch()
      },
    }
  })
}

/** An image as it is shown: what is known of it, and where it is. */
/** `url` is `null` until the server has said where it is: an event of a task says only which image it is. */
export type Picture = Omit<ShownImage, 'url'> & { readonly url: string | null }

/** The image of an event, that has no address yet. */
export function pictureOf({ imageId, name, mediaType, blob }: NamedImage): Picture {
  return { id: imageId, name, size: blob.size, type: mediaType, url: null }
}
