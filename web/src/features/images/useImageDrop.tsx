/** Takes images that are dropped on or pasted into an element. */
import { type ClipboardEvent, type DragEvent, useState } from 'react'
import { ImagePlus } from 'lucide-react'
import { useWindowEvent } from '../../ui/hooks.ts'
import { texts } from './texts.ts'

/** Accepts images that are dropped or pasted. `over` says whether files are held over the element; `handlers` are the props for the element. */
export function useImageDrop(onFiles: (files: readonly File[]) => void) {
  const [over, setOver] = useState(false)
  useWindowEvent('dragover', refuseDrop)
  useWindowEvent('drop', refuseDrop)
  return {
    over,
    handlers: {
      onDragEnter: ({ dataTransfer }: DragEvent) => {
        if (hasFiles(dataTransfer)) setOver(true)
      },
      onDragOver: (event: DragEvent) => {
        if (!hasFiles(event.dataTransfer)) return
        event.preventDefault()
        event.dataTransfer.dropEffect = 'copy'
      },
      onDragLeave: ({ currentTarget, relatedTarget }: DragEvent) => {
        // Moving between two parts of the element does not leave it.
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false)
      },
      onDrop: (event: DragEvent) => {
        if (!hasFiles(event.dataTransfer)) return
        event.preventDefault()
        setOver(false)
        onFiles([...event.dataTransfer.files])
      },
      onPaste: (event: ClipboardEvent) => {
        const { files } = event.clipboardData
        // Some programs copy text together with a picture of it; in that case the text is pasted.
        if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return
        event.preventDefault()
        onFiles([...files])
      },
    },
  }
}

/**
 * Refuses a file that is dropped where no image can be attached. Otherwise the browser would show the file in place of the page, and everything typed
 * in the page would be lost.
 */
function refuseDrop(event: globalThis.DragEvent): void {
  if (event.dataTransfer === null || !hasFiles(event.dataTransfer) || event.defaultPrevented) return
  event.preventDefault()
  event.dataTransfer.dropEffect = 'none'
}

function hasFiles({ types }: DataTransfer): boolean {
  return types.includes('Files')
}

/** A hint that covers the element while files are held over it. */
export function DropHint({ most }: { readonly most: number }) {
  return (
    <div className="pointer-events-none absolute inset-1 z-10 flex animate-appear items-center justify-center gap-2 rounded-control border-2 border-dashed border-accent bg-select text-ui font-medium">
      <ImagePlus />
      {texts.drop(most)}
    </div>
  )
}
