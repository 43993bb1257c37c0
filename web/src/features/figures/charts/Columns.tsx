/** Stacked columns over time. The drawing is stretched to fit its box; the texts are outside of it, so that they keep their shape. */
import { stackedMarks, type DrawnChart } from './chartData.ts'

/** The maximum number of labels below the columns. */
const maxLabels = 6
const steps = [1, 0.5, 0] as const

export function Columns({ chart, rows, end, label }: DrawnChart) {
  const width = rows.length > 6 ? 0.64 : 0.32
  const every = Math.ceil(rows.length / maxLabels)
  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
      <div aria-hidden="true" className="relative h-52 w-14 text-right text-tiny text-muted">
        {steps.map((step) => (
          <span
            key={step}
            className="absolute right-0 -translate-y-1/2"
            style={{ top: `${(1 - step) * 100}%` }}
          >
            {chart.format(end * step)}
          </span>
        ))}
      </div>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${rows.length} 100`}
        preserveAspectRatio="none"
        className="h-52 w-full overflow-visible"
      >
        {steps.map((step) => (
          <line
            key={step}
            x1={0}
            x2={rows.length}
            y1={(1 - step) * 100}
            y2={(1 - step) * 100}
            vectorEffect="non-scaling-stroke"
            className={step === 0 ? 'stroke-control' : 'stroke-line'}
          />
        ))}
        {rows.map((row, index) => (
          <g key={row.key}>
            {stackedMarks(chart, row, end).map(({ name, fill, title, from, size }) => (
              <rect
                key={name}
                x={index + (1 - width) / 2}
                y={100 - from - size}
                width={width}
                height={size}
                className={fill}
              >
                <title>{title}</title>
              </rect>
            ))}
          </g>
        ))}
      </svg>
      <span />
      <div aria-hidden="true" className="relative mt-1.5 h-4 text-tiny text-muted">
        {rows.map(
          (row, index) =>
            (rows.length - 1 - index) % every === 0 && (
              <span
                key={row.key}
                className="absolute -translate-x-1/2 whitespace-nowrap"
                style={{ left: `${((index + 0.5) / rows.length) * 100}%` }}
              >
                {row.shortLabel}
              </span>
            ),
        )}
      </div>
    </div>
  )
}
