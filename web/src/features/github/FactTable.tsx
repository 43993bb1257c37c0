/** A table of facts. On a phone each row is a block: the name of its column precedes each cell except the first and a cell with buttons. */
import type { ReactNode } from 'react'

interface FactTableProps {
  readonly label: string
  readonly columns: readonly string[]
  /** Whether the last column has buttons, so that its name is only for assistive technology. */
  readonly lastIsButtons?: boolean
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[]
}

const headCell = 'px-2 py-2 text-left text-meta font-medium text-muted first:pl-4 last:pr-4'
const cell =
  'px-2 py-2 align-middle wrap-anywhere max-md:flex max-md:gap-3 max-md:px-4 max-md:py-0.5 md:first:pl-4 md:last:pr-4'
const named =
  'max-md:before:w-28 max-md:before:flex-none max-md:before:text-muted max-md:before:content-[attr(data-column)]'

export function FactTable({ label, columns, lastIsButtons = false, rows }: FactTableProps) {
  const isButtons = (index: number) => lastIsButtons && index === columns.length - 1
  return (
    <table className="w-full table-fixed text-ui" aria-label={label}>
      <thead className="max-md:sr-only">
        <tr>
          {columns.map((column, index) => (
            <th key={column} scope="col" className={isButtons(index) ? 'w-36' : headCell}>
              {isButtons(index) ? <span className="sr-only">{column}</span> : column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells }) => (
          <tr key={key} className="border-t border-line-soft max-md:block max-md:py-2.5">
            {columns.map((column, index) => {
              const content = cells[index]
              if (index === 0)
                return (
                  <th key={column} scope="row" className={`${cell} text-left font-medium`}>
                    {content}
                  </th>
                )
              return (
                <td
                  key={column}
                  data-column={column}
                  className={isButtons(index) ? `${cell} md:text-right` : `${cell} ${named}`}
                >
                  {content}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
