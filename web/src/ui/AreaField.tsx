/** A labelled text of several lines, which grows with what is in it. */
import type { ComponentProps } from 'react'
import { TextArea } from './TextArea.tsx'

export function AreaField(props: Omit<ComponentProps<typeof TextArea>, 'className' | 'interim'>) {
  return (
    <div>
      {/* The box has its name already. */}
      <p aria-hidden className="mb-1.5 text-ui font-medium">
        {props.label}
      </p>
      <div className="rounded-control border border-control bg-panel p-2.5 has-focus-visible:outline-2 has-focus-visible:outline-accent">
        <TextArea {...props} className="text-typed" />
      </div>
    </div>
  )
}
