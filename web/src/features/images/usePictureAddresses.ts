/**
 * Where pictures are, in one place. An address is good for some minutes: one that shows nothing any more is asked for
 * again, and so is one that was never said.
 */
import { useState } from 'react'
import { useImageAddressesQuery } from './imagesApi.ts'
import type { Picture } from './picture.ts'

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
