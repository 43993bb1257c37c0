/** The addresses of pictures. Addresses expire after some minutes, so an address that is missing or fails to load is fetched again. */
import { useState } from 'react'
import type { ShownImage } from '#domain/api/images.schema.ts'
import type { NamedImage } from '#domain/task/commands.ts'
import { useImageAddressesQuery } from './imagesApi.ts'

export interface Addressed {
  readonly picture: Picture
  /** The address of the picture; `null` while the address is being fetched, and when the picture cannot be shown. */
  readonly url: string | null
  readonly missing: boolean
  /** The caller must call this when `url` fails to load. */
  readonly onFailed: () => void
}

/** After this many failed addresses a picture counts as missing. */
const maxTries = 3

export function usePictureAddresses(taskId: string, pictures: readonly Picture[]): readonly Addressed[] {
  const [failed, setFailed] = useState<ReadonlyMap<string, readonly string[]>>(new Map())
  const failedOf = (id: string) => failed.get(id) ?? []
  const needsFetch = pictures.some(({ id, url }) => url === null || failedOf(id).includes(url))
  const { data, isFetching, refetch } = useImageAddressesQuery(taskId, { skip: !needsFetch })
  return pictures.map((picture) => {
    const failedUrls = failedOf(picture.id)
    const fresh = data?.[picture.id]
    const url = [picture.url, fresh].find((one) => one && !failedUrls.includes(one)) ?? null
    return {
      picture,
      url,
      missing: failedUrls.length >= maxTries || (url === null && needsFetch && !isFetching),
      onFailed: () => {
        if (url === null || failedUrls.length >= maxTries) return
        // Uses an updater function, because several addresses may fail before the next render, and the same address may fail twice.
        setFailed((known) => {
          const already = known.get(picture.id) ?? []
          return already.includes(url) ? known : new Map(known).set(picture.id, [...already, url])
        })
        if (url === fresh) void refetch()
      },
    }
  })
}

/** An image for display. Its `url` is `null` until it is fetched, since events of a task only have the id of an image. */
export type Picture = Omit<ShownImage, 'url'> & { readonly url: string | null }

/** The picture of an image in an event. */
export function pictureOf({ imageId, name, mediaType, blob }: NamedImage): Picture {
  return { id: imageId, name, size: blob.size, type: mediaType, url: null }
}
