/**
 * Two panes with a divider that can be dragged, or moved with the arrow keys in steps of 2 percent, between 20 and 80 percent; a double click resets
 * it. Without room for both, the panes stay mounted in one column.
 */
import { useRef, useState, type KeyboardEvent, type ReactNode, type RefObject } from 'react'
import { classes } from '../classes.ts'

interface SplitViewProps {
  readonly label: string
  /** The left pane's share of the width, in percent. */
  readonly position: number
  readonly initial: number
  readonly onMove: (position: number) => void
  /** Whether the panes are side by side; otherwise they are in a column, without the divider. */
  readonly split?: boolean
  readonly left: ReactNode
  readonly right: ReactNode
}

const minPercent = 20
const maxPercent = 80
const stepPercent = 2

export function SplitView({ split = true, left, right, ...divided }: SplitViewProps) {
  const frame = useRef<HTMLDivElement>(null)
  // During a drag the position is only shown; it is stored at the end.
  const [dragged, setDragged] = useState<number | null>(null)
  // Without a second column there is no divider, so a drag ends.
  if (!split && dragged !== null) setDragged(null)
  const percent = clamped(dragged ?? divided.position)
  return (
    <div
      ref={frame}
      className={classes('min-h-0 flex-1 *:min-h-0 *:min-w-0', split ? 'grid' : 'flex flex-col')}
      style={
        split ? { gridTemplateColumns: `minmax(0, ${percent}fr) 1px minmax(0, ${100 - percent}fr)` } : {}
      }
    >
      {left}
      {split && (
        <Divider
          {...divided}
          frame={frame}
          percent={percent}
          isDragged={dragged !== null}
          onDrag={setDragged}
        />
      )}
      {right}
    </div>
  )
}

interface DividerProps extends Pick<SplitViewProps, 'label' | 'initial' | 'onMove'> {
  readonly frame: RefObject<HTMLDivElement | null>
  readonly percent: number
  readonly isDragged: boolean
  readonly onDrag: (position: number | null) => void
}

function Divider({ label, initial, onMove, frame, percent, isDragged, onDrag }: DividerProps) {
  const at = (clientX: number) => {
    const box = frame.current?.getBoundingClientRect()
    return box === undefined || box.width === 0 ? percent : clamped(((clientX - box.left) / box.width) * 100)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = {
      ArrowLeft: percent - stepPercent,
      ArrowRight: percent + stepPercent,
      Home: minPercent,
      End: maxPercent,
    }[event.key]
    if (next === undefined) return
    event.preventDefault()
    onMove(clamped(next))
  }
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuemin={minPercent}
      aria-valuemax={maxPercent}
      aria-valuenow={Math.round(percent)}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onDoubleClick={() => onMove(initial)}
      onPointerDown={(event) => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
        onDrag(at(event.clientX))
      }}
      onPointerMove={(event) => {
        if (isDragged) onDrag(at(event.clientX))
      }}
      onPointerUp={(event) => {
        if (!isDragged) return
        onMove(at(event.clientX))
        onDrag(null)
      }}
      onPointerCancel={() => onDrag(null)}
      className="group relative z-10 cursor-col-resize touch-none bg-line outline-none"
    >
      {/* The line is one pixel wide, but can be grabbed over nine pixels. */}
      <span className="absolute inset-y-0 -left-1 w-2.25" />
      <span className="absolute top-1/2 -left-0.5 h-8 w-1.25 -translate-y-1/2 rounded-[3px] bg-line group-hover:bg-control group-focus-visible:bg-accent" />
    </div>
  )
}

function clamped(position: number): number {
  return Math.min(maxPercent, Math.max(minPercent, position))
}
