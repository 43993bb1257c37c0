/** A strip of figures, each below its name. On a phone, four figures are in two rows of two; any other number has a row for each figure. */
import { classes } from '../classes.ts'
import { Skeleton } from '../status/Loading.tsx'

interface StatsProps {
  /** A `value` is `undefined` while a figure is loading, and `null` when it is not available. */
  readonly stats: readonly { readonly name: string; readonly value: number | string | null | undefined }[]
  /** The accessible text for an unknown figure. */
  readonly unknown: string
  readonly className?: string
}

export function Stats({ stats, unknown, className }: StatsProps) {
  const four = stats.length === 4
  return (
    <dl
      className={classes(
        'grid',
        four ? 'grid-cols-2 md:grid-cols-4' : stats.length === 5 ? 'md:grid-cols-5' : 'md:grid-cols-3',
        className,
      )}
    >
      {stats.map(({ name, value }) => (
        <div
          key={name}
          className={classes(
            'border-line-soft md:border-t-0 md:border-l md:px-5 md:py-3.5 md:first:border-l-0',
            four
              ? 'px-4 py-3 even:border-l nth-3:border-t nth-4:border-t md:nth-3:border-t-0 md:nth-4:border-t-0'
              : 'flex items-center justify-between border-t px-4 py-2 first:border-t-0 md:block',
          )}
        >
          <dt className="text-ui text-muted">{name}</dt>
          <dd className={four ? 'text-page font-semibold' : 'text-title font-semibold md:text-page'}>
            {value === null ? (
              <span aria-hidden="true" className="text-muted">
                –
              </span>
            ) : (
              ((typeof value === 'number' ? grouped(value) : value) ?? <Skeleton className="my-1 h-6 w-10" />)
            )}
            {(value ?? null) === null && <span className="sr-only">{unknown}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** `10,000`: formatted by hand, since the browser's own formatter costs a millisecond per number and lists have many. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
