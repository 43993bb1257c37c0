/** Images by drop and by paste, for whatever the handlers are put on. */
import { type ClipboardEvent, type DragEvent, useEffect, useState } from 'react'
import { ImagePlus } from 'lucide-react'
import { texts } from './texts.ts'

interface ImageDrop {
  /** Files are held over it. */
  readonly over: boolean
  readonly handlers: {
    readonly onDragEnter: (event: DragEvent) => void
    readonly onDragOver: (event: DragEvent) => void
    readonly onDragLeave: (event: DragEvent) => void
    readonly onDrop: (event: DragEvent) => void
    readonly onPaste: (event: ClipboardEvent) => void
  }
}

export function useImageDrop(onFiles: (files: readonly File[]) => void): ImageDrop {
  const [over, setOver] = useState(false)
  // A file that is dropped beside would take the place of the page, with all that is typed in it.
  useEffect(() => {
    const keepPage = (event: globalThis.DragEvent) => {
      if (event.dataTransfer === null || !hasFiles(event.dataTransfer) || event.defaultPrevented) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'none'
    }
    window.addEventListener('dragover', keepPage)
    window.addEventListener('drop', keepPage)
    return () => {
      window.removeEventListener('dragover', keepPage)
      window.removeEventListener('drop', keepPage)
    }
  }, [])
  return {
    over,
    handlers: {
      onDragEnter: ({ dataTransfer }) => {
        if (hasFiles(dataTransfer)) setOver(true)
      },
      onDragOver: (event) => {
        if (!hasFiles(event.dataTransfer)) return
        event.preventDefault()
        event.dataTransfer.dropEffect = 'copy'
      },
      onDragLeave: ({ currentTarget, relatedTarget }) => {
        // Between two parts of it nothing has left.
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false)
      },
      onDrop: (event) => {
        if (!hasFiles(event.dataTransfer)) return
        event.preventDefault()
        setOver(false)
        onFiles([...event.dataTransfer.files])
      },
      onPaste: (event) => {
        const { files } = event.clipboardData
        // Text that was copied with a picture of itself is meant as text.
        if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return
        event.preventDefault()
        onFiles([...files])
      },
    },
  }
}

function hasFiles({ types }: DataTransfer): boolean {
  return types.includes('Files')
}

/** Says over the whole of what it lies on that images can be dropped there. */
export function DropHint({ most }: { readonly most: number }) {
  return (
    <div className="pointer-events-none absolute inset-1 z-10 flex animate-appear items-center justify-center gap-2 rounded-control border-2 border-dashed border-accent bg-select text-ui font-medium">
      <ImagePlus />
      {texts.drop(most)}
    </div>
  )
}
