/** Pictures of a task, small: one, side by side, or in a grid. Each opens all of them full-screen. */
import { ImageOff } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import { classes } from '../../ui/classes.ts'
import { type Addressed, type Picture, usePictureAddresses } from './usePictureAddresses.ts'
import { texts } from './texts.ts'

const Lightbox = lazy(async () => ({ default: (await import('./Lightbox.tsx')).Lightbox }))

export type PicturesLayout = 'single' | 'horizontal' | 'grid'

interface PicturesProps {
  readonly taskId: string
  readonly pictures: readonly Picture[]
  readonly layout: PicturesLayout
  /** How many are shown; beside them stands how many more there are. */
  readonly most: number
  readonly className?: string
}

const lists: Record<PicturesLayout, string> = {
  single: 'flex',
  horizontal: 'flex gap-1.5',
  grid: 'grid grid-cols-[repeat(auto-fill,minmax(96px,1fr))] gap-1.5',
}
const frames: Record<PicturesLayout, string> = {
  single: 'h-36 max-w-full min-w-24',
  horizontal: 'h-20 w-full',
  grid: 'h-20 w-full',
}
const items: Record<PicturesLayout, string> = {
  single: 'min-w-0',
  horizontal: 'min-w-0 max-w-36 flex-1',
  grid: 'min-w-0',
}

export function Pictures({ taskId, pictures, layout, most, className }: PicturesProps) {
  const addressed = usePictureAddresses(taskId, pictures)
  const [opened, setOpened] = useState<number | null>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const shown = addressed.slice(0, most)
  const more = addressed.length - shown.length
  return (
    <>
      <ul className={classes(lists[layout], className)}>
        {shown.map((each, index) => (
          <li key={each.picture.id} className={items[layout]}>
            <Thumbnail
              addressed={each}
              className={frames[layout]}
              onOpen={(button) => {
                opener.current = button
                setOpened(index)
              }}
            />
          </li>
        ))}
        {more > 0 && (
          <li className={layout === 'horizontal' ? 'flex-none' : items[layout]}>
            <button
              type="button"
              aria-label={texts.openMore(more)}
              aria-haspopup="dialog"
              onClick={(event) => {
                opener.current = event.currentTarget
                setOpened(shown.length)
              }}
              className={classes(
                'grid h-20 place-items-center rounded-control border border-line bg-panel text-title font-semibold text-muted transition-colors hover:border-control hover:bg-raised hover:text-text',
                layout === 'horizontal' ? 'w-14' : 'w-full',
              )}
            >
              {texts.more(more)}
            </button>
          </li>
        )}
      </ul>
      {opened !== null && (
        <Suspense fallback={null}>
          <Lightbox
            pictures={addressed}
            first={opened}
            onClose={() => {
              setOpened(null)
              opener.current?.focus()
            }}
          />
        </Suspense>
      )}
    </>
  )
}

interface ThumbnailProps {
  readonly addressed: Addressed
  readonly className: string
  readonly onOpen: (button: HTMLButtonElement) => void
}

function Thumbnail({ addressed, className, onOpen }: ThumbnailProps) {
  const { picture, url, missing, onFailed } = addressed
  const frame = classes(
    'relative block overflow-hidden rounded-control border border-line bg-panel',
    className,
  )
  if (missing) {
    return (
      <span
        className={classes(frame, 'grid place-content-center justify-items-center gap-1 px-2 text-muted')}
      >
        <ImageOff className="size-3.5" />
        <span className="max-w-full truncate text-tiny">{picture.name}</span>
        <span className="sr-only">{texts.missing}</span>
      </span>
    )
  }
  return (
    <button
      type="button"
      aria-label={texts.open(picture.name)}
      aria-haspopup="dialog"
      title={picture.name}
      onClick={(event) => onOpen(event.currentTarget)}
      className={classes(frame, 'transition-colors hover:border-control')}
    >
      {url !== null && (
        <img src={url} alt={picture.name} onError={onFailed} className="size-full object-cover" />
      )}
    </button>
  )
}
