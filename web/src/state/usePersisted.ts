/** Remembered values in components. A component shows its own changes, and those made with `changeElsewhere`. */
import { useCallback, useEffect, useState } from 'react'
import { recall, remember, type Persisted } from './persisted.ts'

const changed = 'flightdeck:changed:'

/** Changes a remembered value, also in components that show it now. */
export function changeElsewhere<Value>(thing: Persisted<Value>, value: Value): void {
  remember(thing, value)
  showElsewhere(thing, value)
}

/** Shows a value that is not remembered in the components that show the remembered one now. */
export function showElsewhere<Value>(thing: Persisted<Value>, value: Value): void {
  window.dispatchEvent(new CustomEvent(changed + thing.key, { detail: thing.write(value) }))
}

/** A remembered value, and a function that changes it. */
export function usePersisted<Value>(thing: Persisted<Value>): readonly [Value, (value: Value) => void] {
  const [value, setValue] = useState(() => recall(thing))
  useEffect(() => {
    const onChanged = (event: Event) => {
      if (event instanceof CustomEvent) setValue(thing.read(String(event.detail)) ?? thing.initial)
    }
    window.addEventListener(changed + thing.key, onChanged)
    return () => window.removeEventListener(changed + thing.key, onChanged)
  }, [thing])
  const change = useCallback(
    (next: Value) => {
      setValue(next)
      remember(thing, next)
    },
    [thing],
  )
  return [value, change]
}
