/** A bar for each group, in the order of the list, with its name and its value beside it. */
import { texts } from '../texts.ts'
import { stackOf, type DrawnChart } from './chart.ts'

/** Bars that are drawn; the table has them all. */
const mostBars = 12

export function RankedBars({ chart, rows, end, label }: DrawnChart) {
  const shown = rows.slice(0, mostBars)
  return (
    <div className="grid grid-cols-[minmax(4rem,9rem)_minmax(0,1fr)_auto] gap-x-3">
      <ul aria-hidden="true">
        {shown.map((row) => (
          <li key={row.key} title={row.label} className="h-7 truncate text-meta leading-7">
            {row.label}
          </li>
        ))}
      </ul>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 100 ${shown.length}`}
        preserveAspectRatio="none"
        className="w-full"
        style={{ height: `${shown.length * 1.75}rem` }}
      >
        {shown.map((row, index) => {
          let left = 0
          return (
            <g key={row.key}>
              {chart.series.map(({ name, fill, value }) => {
                const width = (value(row.figures) / end) * 100
                left += width
                return (
                  width > 0 && (
                    <rect
                      key={name}
                      x={left - width}
                      y={index + 0.22}
                      width={width}
                      height={0.56}
                      className={fill}
                    >
                      <title>{texts.mark(row.label, name, chart.format(value(row.figures)))}</title>
                    </rect>
                  )
                )
              })}
            </g>
          )
        })}
        <line
          x1={0}
          x2={0}
          y1={0}
          y2={shown.length}
          vectorEffect="non-scaling-stroke"
          className="stroke-control"
        />
      </svg>
      <ul aria-hidden="true" className="text-right">
        {shown.map((row) => (
          <li key={row.key} className="h-7 text-meta leading-7 text-muted">
            {chart.format(stackOf(chart, row.figures))}
          </li>
        ))}
      </ul>
    </div>
  )
}
