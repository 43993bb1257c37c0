/** One file: its path and tools, and its content or the reason why the content is not shown. */
import { ArrowLeft, Copy, Download, Share } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { TaskFile } from '#domain/api/taskFiles.schema.ts'
import { taskFileLimits } from '#domain/api/taskFiles.ts'
import { isFault, reasonOf } from '../../../api/fault.ts'
import { useAppDispatch } from '../../../state/hooks.ts'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { HiddenMarks } from '../../../ui/text/HiddenMarks.tsx'
import { saveFile } from '../../downloads/DownloadButton.tsx'
import { notified } from '../../notifications/notifications.ts'
import { useCopy } from '../useCopy.ts'
import { FilesLoading } from './FilesLoading.tsx'
import { FileLines } from './FileLines.tsx'
import { filesApi, usePathInTaskQuery } from './filesApi.ts'
import { shownName, sizeText, texts } from './texts.ts'

interface FileViewProps {
  readonly taskId: string
  readonly path: string
  readonly reading: number
  readonly line: number | null
  readonly onLine: (line: number) => void
  /** Returns to the tree; `null` when the tree is beside the file. */
  readonly onBack: (() => void) | null
}

export function FileView({ taskId, path, reading, line, onLine, onBack }: FileViewProps) {
  const { data, error } = usePathInTaskQuery({ taskId, path, reading })
  // When the file no longer exists, its old content disappears.
  const file = isFault(error, 'not_found') ? undefined : data?.file
  return (
    <section aria-label={path} className="flex min-h-0 min-w-0 flex-col">
      <Bar taskId={taskId} path={path} file={file} onBack={onBack} />
      {error !== undefined && (
        <Note kind="error" className="m-3 flex-none">
          {reasonOf(error, texts.notRead)} {file !== undefined && texts.stale}
        </Note>
      )}
      {data === undefined && error === undefined && <FilesLoading />}
      {data?.entries !== undefined && <Empty title={texts.isFolder} />}
      {file !== undefined && <Content file={file} line={line} onLine={onLine} />}
    </section>
  )
}

interface ContentProps extends Pick<FileViewProps, 'line' | 'onLine'> {
  readonly file: TaskFile
}

function Content({ file, line, onLine }: ContentProps) {
  const { path, kind, content, mediaType, size, target, cut, redacted } = file
  const notes = [cut && size !== null ? texts.cut(sizeText(size)) : '', redacted ? texts.redacted : '']
  switch (kind) {
    case 'text':
      if (content === null || content === '') return <Unshown>{texts.unshown.empty}</Unshown>
      return (
        <>
          {notes.map(
            (note) =>
              note !== '' && (
                <p
                  key={note}
                  role="status"
                  className="flex-none border-b border-line-soft px-4 py-1.5 text-meta text-muted"
                >
                  {note}
                </p>
              ),
          )}
          <FileLines path={path} text={content} line={line} onLine={onLine} />
        </>
      )
    case 'image':
      return (
        <div className="grid min-h-0 flex-1 place-items-center overflow-auto p-4">
          <img
            src={`data:${mediaType ?? ''};base64,${content ?? ''}`}
            alt={path}
            className="max-h-full max-w-full object-contain"
          />
        </div>
      )
    case 'link':
      return (
        <Unshown>
          <HiddenMarks text={texts.unshown.link(shownName(target ?? ''))} />
        </Unshown>
      )
    case 'binary':
    case 'repository':
    case 'other':
      return <Unshown>{texts.unshown[kind]}</Unshown>
  }
}

function Unshown({ children }: { readonly children: ReactNode }) {
  return <p className="p-4 wrap-anywhere text-muted">{children}</p>
}

interface BarProps extends Pick<FileViewProps, 'taskId' | 'path' | 'onBack'> {
  readonly file: TaskFile | undefined
}

function Bar({ taskId, path, file, onBack }: BarProps) {
  const copy = useCopy()
  const { save, isSaving } = useSaveFile(taskId, path)
  const size = file?.size ?? null
  const isTooLarge = size !== null && size > taskFileLimits.downloadBytes
  const limit = texts.downloadLimit(sizeText(taskFileLimits.downloadBytes))
  return (
    <div className="flex h-11 flex-none items-center gap-1 border-b border-line-soft pr-1 pl-2 md:h-9">
      {onBack !== null && <IconButton icon={ArrowLeft} label={texts.back} size="small" onClick={onBack} />}
      <h2 className="min-w-0 flex-1 truncate pl-2 font-mono text-code" title={shownName(path)}>
        <HiddenMarks text={shownName(path)} />
      </h2>
      {size !== null && (
        <span className="flex-none pr-1 text-meta text-muted max-md:hidden">{sizeText(size)}</span>
      )}
      <IconButton icon={Copy} label={texts.copyPath} size="small" onClick={() => copy(path, path)} />
      <IconButton
        icon={Share}
        label={texts.copyLink}
        size="small"
        onClick={() => copy(window.location.href, texts.linkCopied)}
      />
      {size !== null && (
        <IconButton
          icon={Download}
          label={isTooLarge ? limit : texts.download}
          size="small"
          busy={isSaving}
          disabled={isTooLarge}
          onClick={() => void save()}
        />
      )}
    </div>
  )
}

function useSaveFile(taskId: string, path: string) {
  const dispatch = useAppDispatch()
  const [isSaving, setSaving] = useState(false)
  const save = async () => {
    setSaving(true)
    const read = filesApi.endpoints.wholeFile.initiate(
      { taskId, path },
      { forceRefetch: true, subscribe: false },
    )
    const { data, error } = await dispatch(read)
    setSaving(false)
    const content = data?.file?.content
    if (content === undefined || content === null) {
      dispatch(notified('error', texts.notDownloaded, error && reasonOf(error, '')))
      return
    }
    const bytes = Uint8Array.from(atob(content), (byte) => byte.charCodeAt(0))
    // Browsers save a file of this type instead of opening it.
    saveFile(new Blob([bytes], { type: 'application/octet-stream' }), path.slice(path.lastIndexOf('/') + 1))
    if (data?.file?.redacted) dispatch(notified('warning', texts.redactedDownload))
  }
  return { save, isSaving }
}
