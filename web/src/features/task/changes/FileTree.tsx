/** The changed files by folder, with a filter; where there is no room for it, the heads in the list must do. */
import { Search } from 'lucide-react'
import { useState } from 'react'
import type { ChangedFile } from '#domain/api/tasks.ts'
import { Count } from '../../../ui/Count.tsx'
import { byFolder, splitName } from './diffRows.ts'
import { FileBadge } from './FileBadge.tsx'
import { texts } from './texts.ts'

interface FileTreeProps {
  readonly files: readonly ChangedFile[]
  readonly onChoose: (fileName: string) => void
}

export function FileTree({ files, onChoose }: FileTreeProps) {
  const [filter, setFilter] = useState('')
  const wanted = filter.trim().toLowerCase()
  const shown = files.filter(({ fileName }) => fileName.toLowerCase().includes(wanted))
  return (
    <nav
      aria-label={texts.files}
      className="hidden min-h-0 flex-col border-r border-line-soft p-2 text-ui xl:flex"
    >
      <label className="mb-2 flex h-7 flex-none items-center gap-2 rounded-control border border-control px-2 has-focus-visible:outline-2 has-focus-visible:outline-accent">
        <Search className="size-3.5 text-muted" />
        <input
          type="search"
          aria-label={texts.filter}
          placeholder={texts.filter}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className="min-w-0 flex-1 bg-transparent outline-none"
        />
      </label>
      <ul className="min-h-0 flex-1 overflow-y-auto">
        {shown.length === 0 && <li className="px-2 py-1 text-muted">{texts.noFile}</li>}
        {byFolder(shown).map(({ folder, files }) => (
          <li key={folder}>
            {folder !== '' && (
              <p className="flex h-7 items-center truncate px-2 text-muted" title={folder}>
                {folder.replace(/\/$/, '')}
              </p>
            )}
            <ul>
              {files.map((file) => (
                <li key={file.fileName}>
                  <button
                    type="button"
                    onClick={() => onChoose(file.fileName)}
                    className="focus-inset flex h-7 w-full items-center gap-1.75 rounded-control pr-2 pl-4 text-left hover:bg-raised"
                  >
                    <FileBadge status={file.status} />
                    <span className="min-w-0 flex-1 truncate" title={file.fileName}>
                      {splitName(file.fileName).name}
                    </span>
                    <Count added={file.additions} deleted={file.deletions} small />
                  </button>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  )
}
