/** Follows a task's log while it runs, for what people want of the run. */
import { taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import type { Delivery } from '#platform/ports/jobs.ts'
import type { RunnerEngines } from '../deps.ts'
import type { Control } from '../execution/control.ts'

/** How often the log is read for it, in case the bus was silent. */
const lookMs = 1_000
const relevant = new Set(['CancellationRequested', 'TaskDeleted', 'SteeringRequested'])

/** Passes steering messages on, and stops the run when a person cancels it or deletes the task, or another runner has ended it. */
export function watchTask(
  { commands, bus, logger }: Pick<RunnerEngines, 'commands' | 'bus' | 'logger'>,
  { payload }: Delivery['job'],
  { stop, steering }: Control,
): () => void {
  const { taskId = '', executionId } = payload
  const stream = taskStream(taskId)
  const look = async () => {
    try {
      const { state } = await commands.load(decider, stream)
      if (state.kind !== 'task') return stop.stop('deleted')
      if (executionId === undefined) return
      const execution = 'execution' in state.phase ? state.phase.execution : undefined
      if (execution?.executionId !== executionId) return stop.stop('evicted')
      if (execution.cancelRequested) stop.stop('cancelled')
      steering.offer(state.steering)
    } catch (fault) {
      // The next look may succeed; what is reported meanwhile is fenced.
      logger.warn({ err: fault }, 'failed to read the task')
    }
  }
  const unsubscribe = bus.subscribe('appended', (event) => {
    if (event.stream === stream && relevant.has(event.type)) void look()
  })
  const timer = setInterval(() => void look(), lookMs)
  return () => {
    unsubscribe()
    clearInterval(timer)
  }
}
