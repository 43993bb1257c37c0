/** The images attached to a message: each with its size, the progress of its upload, and a button to remove it. */
import { CircleAlert, RotateCw, X } from 'lucide-react'
import { classes } from '../../ui/classes.ts'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { Progress } from '../../ui/status/Progress.tsx'
import { someAre, type PendingImage } from './pendingImages.ts'
import { sizeText, texts } from './texts.ts'
import type { PendingImages } from './usePendingImages.ts'

interface PendingTrayProps {
  readonly pending: PendingImages
  /** A sentence below the images, such as that the message waits for their uploads. */
  readonly notice: string | null
  readonly className?: string
}

export function PendingTray({ pending, notice, className }: PendingTrayProps) {
  const { images, refused } = pending
  const lines = [
    ...refused,
    ...(notice === null ? (someAre(images, 'error') ? [texts.failedStay] : []) : [notice]),
  ]
  return (
    <div className={classes(images.length + lines.length > 0 && 'px-2 pb-1', className)}>
      {images.length > 0 && (
        <ul
          aria-label={texts.attached}
          className="grid gap-1.5 md:grid-cols-[repeat(auto-fill,minmax(200px,1fr))]"
        >
          {images.map((image) => (
            <PendingRow
              key={image.id}
              image={image}
              onRetry={() => pending.retry(image.id)}
              onRemove={() => pending.remove(image.id)}
            />
          ))}
        </ul>
      )}
      <div role="status">
        {lines.map((line) => (
          <p key={line} className="px-1 pt-1.5 text-meta text-muted">
            {line}
          </p>
        ))}
      </div>
    </div>
  )
}

interface PendingRowProps {
  readonly image: PendingImage
  readonly onRetry: () => void
  readonly onRemove: () => void
}

function PendingRow({ image: { file, preview, upload }, onRetry, onRemove }: PendingRowProps) {
  const { name } = file
  const failed = upload.kind === 'error'
  return (
    <li
      className={classes(
        'relative flex h-12 min-w-0 items-center gap-2 overflow-hidden rounded-control border pr-1',
        failed ? 'border-bad' : 'border-line',
      )}
    >
      <img src={preview} alt="" className="h-full w-12 flex-none bg-raised object-cover" />
      <div className="min-w-0 flex-1">
        <p className="truncate text-meta font-medium" title={name}>
          {name}
        </p>
        {failed ? (
          <p className="flex items-center gap-1 truncate text-meta text-bad" title={upload.reason}>
            <CircleAlert className="size-3" />
            <span>{texts.failed}</span>
            {upload.reason !== texts.failed && <span className="truncate text-muted">{upload.reason}</span>}
          </p>
        ) : (
          <p className="truncate text-meta text-muted">
            {upload.kind === 'uploading'
              ? texts.progress(sizeText(file.size), upload.progress)
              : sizeText(upload.image.size)}
          </p>
        )}
      </div>
      {failed && <IconButton icon={RotateCw} label={texts.retryOf(name)} size="row" onClick={onRetry} />}
      <IconButton icon={X} label={texts.remove(name)} size="row" onClick={onRemove} />
      {upload.kind === 'uploading' && (
        <Progress
          percent={upload.progress}
          label={texts.uploading(name)}
          className="absolute inset-x-0 bottom-0"
        />
      )}
    </li>
  )
}
