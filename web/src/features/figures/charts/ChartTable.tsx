/** The figures of a chart as a table, which scrolls when it is long. */
import type { Grouping } from '#domain/figures.ts'
import { texts } from '../texts.ts'
import type { Chart, Row } from './chartData.ts'

interface ChartTableProps {
  readonly chart: Chart
  readonly by: Grouping
  readonly rows: readonly Row[]
  readonly label: string
}

export function ChartTable({ chart, by, rows, label }: ChartTableProps) {
  // The latest week comes first.
  const listed = by === 'week' ? rows.toReversed() : rows
  return (
    // A scrolling area must be reachable by keyboard.
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className="focus-inset relative max-h-66 overflow-auto border-t border-line-soft lg:border-t-0 lg:border-l"
    >
      <table className="w-full text-meta">
        <thead className="sticky top-0 bg-panel">
          <tr>
            <th scope="col" className="py-2 pr-3 pl-4 text-left font-medium text-muted">
              {texts.groupings[by]}
            </th>
            {chart.columns.map(({ name }) => (
              <th key={name} scope="col" className="px-2 py-2 text-right font-medium text-muted last:pr-4">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {listed.map((row) => (
            <tr key={row.key} className="border-t border-line-soft">
              <th scope="row" className="max-w-32 truncate py-1.5 pr-3 pl-4 text-left font-normal">
                {row.shortLabel}
              </th>
              {chart.columns.map(({ name, cell }) => (
                <td key={name} className="px-2 py-1.5 text-right whitespace-nowrap last:pr-4">
                  {cell(row.figures) ?? <Unknown />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Unknown() {
  return (
    <>
      <span aria-hidden="true" className="text-muted">
        –
      </span>
      <span className="sr-only">{texts.unknown}</span>
    </>
  )
}
