/** A button over the end of a list, shown while the list is scrolled back. */
import { ArrowDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../../ui/classes.ts'
import { Button } from '../../ui/form/Button.tsx'

interface JumpToEndProps {
  readonly onJump: () => void
  /** The classes that position the button. */
  readonly className: string
  readonly children: ReactNode
}

export function JumpToEnd({ onJump, className, children }: JumpToEndProps) {
  return (
    <Button
      size="small"
      icon={<ArrowDown className="size-3.5" />}
      onClick={onJump}
      className={classes('absolute shadow-float', className)}
    >
      {children}
    </Button>
  )
}
