/** Pages of lists as in GitHub's GraphQL API: a request names `first` or `last`, and a page has at most a hundred items. */
import { failed } from './context.ts'

/** The arguments by which a page is requested. */
export interface PageArguments {
  readonly first?: number | null
  readonly last?: number | null
  readonly after?: string | null
  readonly before?: string | null
}

const most = 100
const cursorOf = (index: number): string => Buffer.from(`cursor:${index}`).toString('base64')

function indexOf(cursor: string): number {
  const [, index] = /^cursor:(\d{1,9})$/.exec(Buffer.from(cursor, 'base64').toString('utf8')) ?? []
  if (index === undefined)
    throw failed('UNPROCESSABLE', `\`${cursor}\` does not appear to be a valid cursor.`)
  return Number(index)
}

/** The requested page of `items`, each written by `write`. Throws a field error for invalid arguments, for example without `first` and `last`. */
export function connection<Item>(
  items: readonly Item[],
  { first, last, after, before }: PageArguments,
  write: (item: Item) => unknown,
): object {
  const size = first ?? last
  if (size == null)
    throw failed(
      'UNPROCESSABLE',
      'You must provide a `first` or `last` value to properly paginate the connection.',
    )
  if (size < 0 || size > most)
    throw failed(
      'UNPROCESSABLE',
      `Requesting ${size} records on the connection exceeds the limit of ${most} records.`,
    )
  const from = after == null ? 0 : indexOf(after) + 1
  const to = before == null ? items.length : Math.min(indexOf(before), items.length)
  const start = first == null ? Math.max(from, to - size) : from
  const end = first == null ? to : Math.min(to, from + size)
  const page = items.slice(start, end)
  return {
    nodes: page.map(write),
    totalCount: items.length,
    pageInfo: {
      startCursor: page.length > 0 ? cursorOf(start) : null,
      endCursor: page.length > 0 ? cursorOf(end - 1) : null,
      hasPreviousPage: start > 0,
      hasNextPage: end < items.length,
    },
  }
}
