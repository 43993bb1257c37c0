/** The head of a changed file, with the viewed mark and a menu. Pressing the head collapses or expands the file's lines. */
import { ChevronDown, Copy, FoldVertical, History, UnfoldVertical } from 'lucide-react'
import { lazy, memo, Suspense, useState } from 'react'
import { classes } from '../../../../ui/classes.ts'
import { LineCounts } from '../../../../ui/status/LineCounts.tsx'
import { HiddenMarks } from '../../../../ui/text/HiddenMarks.tsx'
import { Menu } from '../../../../ui/overlay/Menu.tsx'
import { ellipsisButton } from '../../ellipsisButton.tsx'
import { useReplayed } from '../../replayContext.ts'
import { useCopy } from '../../useCopy.ts'
import { FileBadge } from '../FileBadge.tsx'
import { splitName, type DiffFile } from '../diff/readDiffs.ts'
import { texts } from '../texts.ts'

const OriginDialog = lazy(async () => ({
  default: (await import('../../provenance/OriginDialog.tsx')).OriginDialog,
}))

interface FileHeadProps {
  readonly file: DiffFile
  readonly folded: boolean
  readonly viewed: boolean
  readonly onFold: (file: DiffFile) => void
  readonly onFoldAll: (fold: boolean) => void
  readonly onViewed: (file: DiffFile, viewed: boolean) => void
}

export const FileHead = memo(function FileHead(props: FileHeadProps) {
  const { file, folded, viewed, onFold, onFoldAll, onViewed } = props
  const copy = useCopy()
  const isSaved = useReplayed()?.isSaved === true
  const [tracing, setTracing] = useState(false)
  const { previousName, status, additions, deletions, diff } = file.file
  const { folder, name } = splitName(file.name)
  return (
    <div className="sticky left-0 flex h-9 w-[100cqw] items-center border-b border-line-soft bg-panel">
      <h3 className="h-full min-w-0 flex-1">
        <button
          type="button"
          aria-expanded={!folded}
          onClick={() => onFold(file)}
          className="focus-inset flex size-full items-center gap-2 pr-2 pl-2 text-left text-ui hover:bg-raised"
        >
          <ChevronDown
            className={classes('size-3.5 text-muted transition-transform', folded && '-rotate-90')}
          />
          <FileBadge status={status} />
          {/* In a long path, the folders are truncated first. */}
          <span className="flex min-w-0" title={file.name}>
            {folder !== '' && (
              <span className="min-w-0 truncate text-muted">
                <HiddenMarks text={folder} />
              </span>
            )}
            <span className={folder === '' ? 'truncate' : 'max-w-[calc(100%-1.5rem)] flex-none truncate'}>
              <span className="font-medium">
                <HiddenMarks text={name} />
              </span>
              {previousName !== undefined && (
                <span className="text-muted">
                  {' '}
                  <HiddenMarks text={texts.renamed(previousName)} />
                </span>
              )}
            </span>
          </span>
          <LineCounts added={additions} deleted={deletions} />
        </button>
      </h3>
      <label className="flex h-full flex-none cursor-pointer items-center gap-1.5 px-2 text-meta text-muted has-checked:text-text">
        <input
          type="checkbox"
          checked={viewed}
          onChange={(event) => onViewed(file, event.target.checked)}
          aria-label={texts.viewedFile(file.name)}
          className="size-3.5"
        />
        <span className="hidden @md:inline">{texts.viewed}</span>
      </label>
      <Menu
        button={ellipsisButton({ label: texts.fileActions(file.name), size: 'row', className: 'mr-2' })}
        items={[
          { label: texts.copyPath, icon: Copy, onChoose: () => copy(file.name) },
          { label: texts.copyDiff, icon: Copy, onChoose: () => copy(diff), disabled: diff === '' },
          {
            label: texts.origin,
            icon: History,
            onChoose: () => setTracing(true),
            disabled: status === 'deleted' || isSaved,
          },
          { label: texts.foldAll, icon: FoldVertical, onChoose: () => onFoldAll(true) },
          { label: texts.unfoldAll, icon: UnfoldVertical, onChoose: () => onFoldAll(false) },
        ]}
      />
      {tracing && (
        <Suspense fallback={null}>
          <OriginDialog file={file} onClose={() => setTracing(false)} />
        </Suspense>
      )}
    </div>
  )
})
