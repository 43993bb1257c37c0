/** The entries of the audit log as a table; on a phone each entry is a block. Pressing a person or a task filters by it. */
import type { AuditEntry } from '#domain/api/admin.schema.ts'
import type { AuditFilter } from './auditApi.ts'
import { actionText, texts } from './texts.ts'

interface AuditEntriesProps {
  readonly entries: readonly AuditEntry[]
  readonly onFilter: (change: Partial<AuditFilter>) => void
}

const headCell = 'px-2 py-2 text-left text-meta font-medium text-muted first:pl-4 last:pr-4'
const cell = 'px-2 py-2 align-top max-md:block max-md:px-4 max-md:py-0 md:first:pl-4 md:last:pr-4'

export function AuditEntries({ entries, onFilter }: AuditEntriesProps) {
  return (
    <table className="w-full text-ui" aria-label={texts.entries}>
      <thead className="max-md:sr-only">
        <tr>
          {texts.columns.map((column) => (
            <th key={column} scope="col" className={headCell}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.id} className="border-t border-line-soft max-md:block max-md:py-2.5">
            <td className={`${cell} mono text-meta whitespace-nowrap text-muted md:w-48 md:leading-5`}>
              <time dateTime={entry.at}>{entry.at.slice(0, 19).replace('T', ' ')}</time>
            </td>
            <td className={`${cell} md:w-48`}>
              <Person entry={entry} onFilter={onFilter} />
            </td>
            <td className={`${cell} wrap-anywhere`}>{actionText(entry)}</td>
            <td className={`${cell} md:w-40`}>
              <About entry={entry} onFilter={onFilter} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type CellProps = Pick<AuditEntriesProps, 'onFilter'> & { readonly entry: AuditEntry }

const link = 'text-left text-accent hover:underline max-md:min-h-8'

function Person({ entry: { person, service }, onFilter }: CellProps) {
  if (person === null)
    return <span className="text-muted">{service === null ? texts.nobody : texts.service(service)}</span>
  const name = person.name ?? texts.deleted
  return (
    <button
      type="button"
      title={texts.only(name)}
      onClick={() => onFilter({ person: person.id })}
      className={`${link} wrap-anywhere`}
    >
      {name}
    </button>
  )
}

function About({ entry: { task, project }, onFilter }: CellProps) {
  if (task !== null)
    return (
      <button type="button" title={texts.onlyTask(task)} onClick={() => onFilter({ task })} className={link}>
        {texts.taskShort(task)}
      </button>
    )
  return project !== null && <span title={project}>{texts.projectShort(project)}</span>
}
