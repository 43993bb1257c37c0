/**
 * A box of text that grows with what is in it, up to a height; then it scrolls. The frame around it is the caller's. A
 * mirror of the text in the same cell of a grid gives the height, so that nothing is measured while somebody types.
 */
import { useEffect, useRef, type ComponentProps, type Ref } from 'react'
import { classes } from '../classes.ts'
import { useLengthLimit } from './lengthLimit.ts'

interface TextAreaProps extends Omit<ComponentProps<'textarea'>, 'ref' | 'rows' | 'value' | 'maxLength'> {
  readonly label: string
  readonly value: string
  /** Pixels. */
  readonly minHeight: number
  /** Pixels; past it the box scrolls. */
  readonly maxHeight: number
  /** Above it a sentence says how much is too long. */
  readonly maxCharacters?: number
  /** Words that are on their way, shown muted behind the text and no part of it. */
  readonly interim?: string
  readonly ref?: Ref<HTMLTextAreaElement>
}

const cell = 'col-start-1 row-start-1 whitespace-pre-wrap wrap-break-word'

export function TextArea({
  label,
  minHeight,
  maxHeight,
  className,
  value,
  placeholder,
  interim = '',
  maxCharacters,
  ...rest
}: TextAreaProps) {
  const box = useRef<HTMLDivElement>(null)
  const sentence = useLengthLimit(box, value, maxCharacters)
  // What is spoken is at the end: it is kept in sight.
  useEffect(() => {
    if (interim !== '' && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [interim])
  return (
    <>
      <div ref={box} className="grid grid-cols-1 overflow-y-auto overscroll-contain" style={{ maxHeight }}>
        <div
          aria-hidden="true"
          // Not as text of the page, or it would be there twice; a last empty line needs something in it.
          data-text={interim === '' ? `${value}\u200b` : value}
          className={classes(
            cell,
            'pointer-events-none text-muted before:invisible before:content-[attr(data-text)]',
            className,
          )}
          style={{ minHeight }}
        >
          {interim}
        </div>
        <textarea
          {...rest}
          value={value}
          placeholder={interim === '' ? placeholder : undefined}
          aria-label={label}
          aria-invalid={sentence !== undefined || rest['aria-invalid']}
          rows={1}
          className={classes(cell, 'resize-none overflow-hidden bg-transparent outline-none', className)}
        />
      </div>
      {sentence !== undefined && (
        <p role="alert" className="p-1 text-meta text-bad">
          {sentence}
        </p>
      )}
    </>
  )
}
