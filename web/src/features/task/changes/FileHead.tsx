/** The head of a changed file, which folds its lines. */
import { ChevronDown } from 'lucide-react'
import type { ChangedFile } from '#domain/api/tasks.ts'
import { classes } from '../../../ui/classes.ts'
import { Count } from '../../../ui/Count.tsx'
import { splitName } from './diffRows.ts'
import { FileBadge } from './FileBadge.tsx'
import { texts } from './texts.ts'

interface FileHeadProps {
  readonly file: ChangedFile
  readonly folded: boolean
  readonly onToggle: () => void
}

export function FileHead({ file, folded, onToggle }: FileHeadProps) {
  const { folder, name } = splitName(file.fileName)
  return (
    <h3 className="sticky left-0 h-9 w-[100cqw] border-b border-line-soft bg-panel">
      <button
        type="button"
        aria-expanded={!folded}
        onClick={onToggle}
        className="focus-inset flex size-full items-center gap-2 pr-3 pl-2 text-left text-ui hover:bg-raised"
      >
        <ChevronDown
          className={classes('size-3.5 text-muted transition-transform', folded && '-rotate-90')}
        />
        <FileBadge status={file.status} />
        <span className="min-w-0 truncate" title={file.fileName}>
          <span className="text-muted">{folder}</span>
          <span className="font-medium">{name}</span>
          {file.previousName !== undefined && (
            <span className="text-muted"> {texts.renamed(file.previousName)}</span>
          )}
        </span>
        <Count added={file.additions} deleted={file.deletions} />
      </button>
    </h3>
  )
}
