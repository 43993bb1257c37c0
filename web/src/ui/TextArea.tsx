/** A box of text that grows with what is in it, up to a height; then it scrolls. The frame around it is the caller's. */
import { useLayoutEffect, useRef, type ComponentProps } from 'react'
import { classes } from './classes.ts'

interface TextAreaProps extends Omit<ComponentProps<'textarea'>, 'ref' | 'rows'> {
  readonly label: string
  /** Pixels. */
  readonly minHeight: number
  /** Pixels; past it the box scrolls. */
  readonly maxHeight: number
}

export function TextArea({ label, minHeight, maxHeight, className, value, ...rest }: TextAreaProps) {
  const ref = useRef<HTMLTextAreaElement>(null)
  // Not only when the text changes: a new width wraps it anew.
  useLayoutEffect(() => {
    const box = ref.current
    if (box !== null) fit(box, minHeight, maxHeight)
  })
  return (
    <textarea
      {...rest}
      ref={ref}
      value={value}
      aria-label={label}
      rows={1}
      className={classes('block w-full resize-none bg-transparent outline-none', className)}
    />
  )
}

function fit(box: HTMLTextAreaElement, minHeight: number, maxHeight: number): void {
  // Its own height would count as content: measure from nothing.
  box.style.height = '0'
  const content = box.scrollHeight
  box.style.height = `${Math.max(minHeight, Math.min(content, maxHeight))}px`
  box.style.overflowY = content > maxHeight ? 'auto' : 'hidden'
}
