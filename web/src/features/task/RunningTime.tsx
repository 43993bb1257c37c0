import { elapsed } from '../../ui/text/times.ts'
import { useTaskSeconds } from './replayContext.ts'

/** How long something has been running, in words that are updated every second. */
export function RunningTime({ since }: { readonly since: string }) {
  return elapsed(useTaskSeconds() - Date.parse(since))
}
