/** Bars for the first groups, in the order of the list, each with the group's name and value beside it. */
import { stackedMarks, stackOf, type DrawnChart } from './chartData.ts'

/** The maximum number of bars. Only the table shows all groups. */
const maxBars = 12

export function RankedBars({ chart, rows, end, label }: DrawnChart) {
  const bars = rows.slice(0, maxBars)
  return (
    <div className="grid grid-cols-[minmax(4rem,9rem)_minmax(0,1fr)_auto] gap-x-3">
      <ul aria-hidden="true">
        {bars.map((row) => (
          <li key={row.key} title={row.label} className="h-7 truncate text-meta leading-7">
            {row.label}
          </li>
        ))}
      </ul>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 100 ${bars.length}`}
        preserveAspectRatio="none"
        className="w-full"
        style={{ height: `${bars.length * 1.75}rem` }}
      >
        {bars.map((row, index) => (
          <g key={row.key}>
            {stackedMarks(chart, row, end).map(({ name, fill, title, from, size }) => (
              <rect key={name} x={from} y={index + 0.22} width={size} height={0.56} className={fill}>
                <title>{title}</title>
              </rect>
            ))}
          </g>
        ))}
        <line
          x1={0}
          x2={0}
          y1={0}
          y2={bars.length}
          vectorEffect="non-scaling-stroke"
          className="stroke-control"
        />
      </svg>
      <ul aria-hidden="true" className="text-right">
        {bars.map((row) => (
          <li key={row.key} className="h-7 text-meta leading-7 text-muted">
            {chart.format(stackOf(chart, row.figures))}
          </li>
        ))}
      </ul>
    </div>
  )
}
