/** A small button that picks images from the computer. Its name states how many may be attached. */
import type { LucideIcon } from 'lucide-react'
import { useRef } from 'react'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { acceptedTypes } from './acceptFiles.ts'
import { texts } from './texts.ts'
import type { PendingImages } from './usePendingImages.ts'

interface AttachButtonProps {
  readonly images: PendingImages
  readonly icon: LucideIcon
}

export function AttachButton({ images: { most, add }, icon }: AttachButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={acceptedTypes}
        multiple
        hidden
        tabIndex={-1}
        aria-label={texts.attach(most)}
        onChange={({ currentTarget }) => {
          add([...(currentTarget.files ?? [])])
          // Cleared, so that the same file can be picked again.
          currentTarget.value = ''
        }}
      />
      <IconButton icon={icon} label={texts.attach(most)} onClick={() => input.current?.click()} />
    </>
  )
}
