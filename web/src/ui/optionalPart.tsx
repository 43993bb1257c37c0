/** A part of a page in a chunk of its own: if the chunk is missing, only the part is missing and not the page. */
import { lazy, useLayoutEffect, useState, type ComponentType, type ReactNode } from 'react'
import { inTime } from './inTime.ts'

interface Missing {
  /** Called when the part could not be loaded. */
  readonly onMissing?: () => void
}

/** A part that suspends until it is loaded. A failure is an `error` event of the window; the part is loaded again when it is next mounted. */
export function optionalPart<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let Part: ComponentType<Props> | null = null
  const begin = () =>
    lazy(async () => {
      Part = await inTime(load).catch((fault: unknown) => {
        reportError(fault)
        return null
      })
      return { default: Ready }
    })
  let Waiting = begin()
  return function OptionalPart(props: Props & Missing) {
    const { onMissing } = props
    // A mounted part is not loaded again at each rendering: offline, each attempt would report a failure.
    const [Loaded] = useState(() => Waiting)
    useLayoutEffect(() => {
      if (Part !== null) return
      Waiting = begin()
      onMissing?.()
    }, [onMissing])
    return <Loaded>{() => Part !== null && <Part {...props} />}</Loaded>
  }
}

/** Renders what its chunk was loaded for. */
function Ready({ children }: { readonly children: () => ReactNode }) {
  return children()
}
