/** Has the server make things ready for the task that is being written: its workspace, and an agent that waits. */
import { useEffect } from 'react'
import { usePrepareTaskMutation } from '../tasks/tasksApi.ts'

/** Whoever writes for longer asks again before what was made is taken away. */
const againMs = 50_000
/** A choice that is changed at once is not asked for. */
const settledMs = 400

type Wanted = Parameters<ReturnType<typeof usePrepareTaskMutation>[0]>[0]

/** `wanted` is `null` while the task lacks something, or nothing of it is written yet. */
export function usePrewarm(wanted: Wanted | null): void {
  const [prepare] = usePrepareTaskMutation()
  const asked = wanted === null ? null : JSON.stringify(wanted)
  useEffect(() => {
    if (asked === null) return undefined
    const ask = () => {
      const body: Wanted = JSON.parse(asked)
      void prepare(body)
    }
    const first = setTimeout(ask, settledMs)
    const again = setInterval(() => {
      if (document.visibilityState === 'visible') ask()
    }, againMs)
    return () => {
      clearTimeout(first)
      clearInterval(again)
    }
  }, [asked, prepare])
}
