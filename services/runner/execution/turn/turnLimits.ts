/** Ends the agent of a turn that is stopped, is silent for too long, or takes too long. */
import type { AgentDeps } from '../../deps.ts'
import type { Run } from '../run.ts'
import { timeInWords } from '../runLimits.ts'
import type { AgentProcess } from './agentProcess.ts'

const interruptMs = 5_000

/** A cancelled agent is interrupted before it is killed. `onOutput`: the agent is not silent. */
export function watchLimits(
  { limits: { silentMs, longestMs } }: Pick<AgentDeps, 'limits'>,
  { stopping }: Run,
  process: AgentProcess,
): { onOutput(): void; stop(): void } {
  const { signal } = stopping
  let ending: NodeJS.Timeout | undefined
  const onStop = () => {
    if (stopping.reason() !== 'cancelled') return process.kill()
    process.interrupt()
    ending = setTimeout(() => process.kill(), interruptMs)
  }
  const sentence = (why: string) => `The agent was stopped ${why}.`
  const silent = sentence(`because it was silent for ${timeInWords(silentMs)}`)
  const silence = setTimeout(() => stopping.stop('silent', silent), silentMs)
  const late = sentence(`after ${timeInWords(longestMs)}`)
  const tooLong = setTimeout(() => stopping.stop('too_long', late), longestMs)
  if (signal.aborted) onStop()
  else signal.addEventListener('abort', onStop, { once: true })
  return {
    onOutput: () => silence.refresh(),
    stop() {
      for (const timer of [silence, tooLong, ending]) clearTimeout(timer)
      signal.removeEventListener('abort', onStop)
    },
  }
}
