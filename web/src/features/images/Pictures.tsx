/** Thumbnails of a task's pictures: a single one, some side by side, or a grid. Pressing one opens all of them full-screen. */
import { ImageOff } from 'lucide-react'
import { Suspense, useRef, useState, type MouseEvent } from 'react'
import { classes } from '../../ui/classes.ts'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { type Addressed, type Picture, usePictureAddresses } from './usePictureAddresses.ts'
import { texts } from './texts.ts'

const Lightbox = optionalPart(async () => (await import('./Lightbox.tsx')).Lightbox)

interface PicturesProps {
  readonly taskId: string
  readonly pictures: readonly Picture[]
  readonly layout: keyof typeof layouts
  /** How many thumbnails are shown; a button beside them shows how many more there are. */
  readonly most: number
  readonly className?: string
}

const layouts = {
  single: { list: 'flex', item: 'min-w-0', frame: 'h-36 max-w-full min-w-24' },
  horizontal: { list: 'flex gap-1.5', item: 'min-w-0 max-w-36 flex-1', frame: 'h-20 w-full' },
  grid: {
    list: 'grid grid-cols-[repeat(auto-fill,minmax(96px,1fr))] gap-1.5',
    item: 'min-w-0',
    frame: 'h-20 w-full',
  },
} as const

export function Pictures({ taskId, pictures, layout, most, className }: PicturesProps) {
  const addressed = usePictureAddresses(taskId, pictures)
  const [opened, setOpened] = useState<number | null>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const { list, item, frame } = layouts[layout]
  const more = addressed.length - most
  const open = (index: number) => (event: MouseEvent<HTMLButtonElement>) => {
    opener.current = event.currentTarget
    setOpened(index)
  }
  const close = () => {
    setOpened(null)
    opener.current?.focus()
  }
  return (
    <>
      <ul className={classes(list, className)}>
        {addressed.slice(0, most).map((each, index) => (
          <li key={each.picture.id} className={item}>
            <Thumbnail addressed={each} className={frame} onOpen={open(index)} />
          </li>
        ))}
        {more > 0 && (
          <li className={layout === 'horizontal' ? 'flex-none' : item}>
            <button
              type="button"
              aria-label={texts.openMore(more)}
              aria-haspopup="dialog"
              onClick={open(most)}
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
          <Lightbox pictures={addressed} first={opened} onClose={close} onMissing={close} />
        </Suspense>
      )}
    </>
  )
}

interface ThumbnailProps {
  readonly addressed: Addressed
  readonly className: string
  readonly onOpen: (event: MouseEvent<HTMLButtonElement>) => void
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
      onClick={onOpen}
      className={classes(frame, 'transition-colors hover:border-control')}
    >
      {url !== null && (
        <img src={url} alt={picture.name} onError={onFailed} className="size-full object-cover" />
      )}
    </button>
  )
}
