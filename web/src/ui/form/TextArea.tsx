/**
 * A text box that grows with its content up to a maximum height, and then scrolls. The caller provides the frame. A mirror of the text in the same
 * grid cell determines the height, so that nothing is measured while typing.
 */
import { useEffect, useRef, type ComponentProps, type Ref } from 'react'
import { classes } from '../classes.ts'
import { useLengthLimit } from './lengthLimit.ts'

interface TextAreaProps extends Omit<ComponentProps<'textarea'>, 'ref' | 'rows' | 'value' | 'maxLength'> {
  readonly label: string
  readonly value: string
  /** The height of the empty box in pixels. */
  readonly minHeight: number
  /** The height in pixels above which the box scrolls. */
  readonly maxHeight: number
  /** Above this length, a sentence says by how much the text is too long. */
  readonly maxCharacters?: number
  /** Dictated words that are not final yet, shown muted after the text but not part of it. */
  readonly interim?: string
  readonly ref?: Ref<HTMLTextAreaElement>
}

const cell = 'col-start-1 row-start-1 whitespace-pre-wrap wrap-break-word [unicode-bidi:plaintext]'

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
  // Dictated words appear at the end, which is kept in view.
  useEffect(() => {
    if (interim !== '' && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [interim])
  return (
    <>
      <div ref={box} className="grid grid-cols-1 overflow-y-auto overscroll-contain" style={{ maxHeight }}>
        <div
          aria-hidden="true"
          // This copy of the text is shown by CSS, or the page would contain the text twice. The zero-width space gives an empty last line its
          // height.
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
