/** The files that a compared task changed, each with an expandable diff. */
import { ChevronRight } from 'lucide-react'
import type { ChangedFile, Task } from '#domain/api/tasks.schema.ts'
import { LineCounts } from '../../../ui/status/LineCounts.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import { MiddleCut } from '../../../ui/text/MiddleCut.tsx'
import { classes } from '../../../ui/classes.ts'
import { useDiffQuery } from '../taskApi.ts'
import { texts } from './texts.ts'

export function ComparedFiles({ task }: { readonly task: Task }) {
  const { currentData, error } = useDiffQuery(task.id, { refetchOnMountOrArgChange: true })
  if (error !== undefined) return <p className="px-4 py-3 text-ui text-bad">{texts.filesFailed}</p>
  if (currentData === undefined) return <Skeleton className="mx-4 my-3 h-4 w-40" />
  const { changedFiles } = currentData.data
  if (changedFiles.length === 0) return <p className="px-4 py-3 text-ui text-muted">{texts.noFiles}</p>
  return (
    <ul aria-label={texts.files}>
      {changedFiles.map((file) => (
        <li key={file.fileName} className="border-t border-line-soft first:border-t-0">
          <details>
            <summary className="flex cursor-pointer items-center gap-2 px-4 py-2 text-ui hover:bg-raised">
              <ChevronRight className="size-3.5 flex-none text-muted transition-transform [details[open]_&]:rotate-90" />
              <span className="min-w-0 flex-1 mono">
                <MiddleCut>{file.fileName}</MiddleCut>
              </span>
              <LineCounts added={file.additions} deleted={file.deletions} />
            </summary>
            <Diff file={file} />
          </details>
        </li>
      ))}
    </ul>
  )
}

/** The number of lines after which a diff is cut: longer diffs are better read in the task. */
const maxLines = 1_000

function Diff({ file }: { readonly file: ChangedFile }) {
  // Only the hunks are shown; a diff without hunks, as of a binary file, is shown as a whole.
  const lines = file.diff
    .slice(Math.max(0, file.diff.search(/^@@/m)))
    .trimEnd()
    .split('\n')
  return (
    <div
      role="region"
      aria-label={file.fileName}
      // The diff scrolls sideways, so it must be reachable by keyboard.
      tabIndex={0}
      className="max-h-96 overflow-auto border-t border-line-soft bg-bg py-1"
    >
      <pre className="w-max min-w-full mono">
        {lines.slice(0, maxLines).map((line, index) => (
          <div key={index} className={classes('px-4', colourOf(line))}>
            {line === '' ? ' ' : line}
          </div>
        ))}
      </pre>
      {lines.length > maxLines && <p className="px-4 py-2 text-meta text-muted">{texts.cut}</p>}
    </div>
  )
}

function colourOf(line: string): string {
  if (line.startsWith('+')) return 'bg-add-bg'
  if (line.startsWith('-')) return 'bg-del-bg'
  return line.startsWith('@@') ? 'text-muted' : ''
}
