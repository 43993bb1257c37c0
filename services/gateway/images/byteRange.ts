/** The part of a file that a request asks for, as players of videos do: https://www.rfc-editor.org/rfc/rfc9110#name-range */

export interface ByteRange {
  readonly first: number
  readonly last: number
}

/**
 * The range that a `Range` header requests. `whole` when there is no such header, or when it is invalid or has several ranges or another unit, which
 * a server may ignore. `none` when the file does not have the requested bytes.
 */
export function requestedRange(header: string, size: number): ByteRange | 'whole' | 'none' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header) ?? []
  if (from === '' && to === '') return 'whole'
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < first) return 'whole'
  return first > last ? 'none' : { first, last }
}
