/** Runs that go on for as long as a soak: each task gets its next run, a command or a turn of its agent, when the last one has ended. */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { chatRoutes } from '#domain/api/chat.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import type { Answer } from '../../product/person.ts'
import { hasEnded } from '../../server/scene.ts'
import { asking } from '../stampingModel.ts'
import { answerOf, type Ledger } from './ledger.ts'
import type { OwnedTask } from './mixedLoad.ts'

/** Of this many runs of a task one is a turn; a turn needs a program of 200 MB, so few run at once. */
const runsForATurn = 6
const turnsAtOnce = 3
const lines = 20
/** Prints a line each second, with the time at which it was printed, in microseconds since 1970. */
const printing = `for n in {1..${lines}}; do t=$EPOCHREALTIME; echo @\${t/[.,]/}@; sleep 1; done`
const speech = { words: 20, everyMs: 200 }
const betweenLooksMs = 6_000
const endsWithinMs = 300_000

const Position = z.object({ position: z.string() })
const State = z.object({ task: z.object({ status: z.string() }) })

/** Keeps a run going in each task until the signal, and resolves when the last has ended. Returns the tasks whose run did not end. */
export async function keepRunning(
  tasks: readonly OwnedTask[],
  ledger: Ledger,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const stuck: string[] = []
  let turns = 0
  const runsOf = async (task: OwnedTask, place: number) => {
    for (let round = place; !signal.aborted; round += 1) {
      const isTurn = round % runsForATurn === 0 && turns < turnsAtOnce
      if (isTurn) turns += 1
      try {
        const position = await begin(task, ledger, isTurn)
        if (position === undefined) await pause(betweenLooksMs)
        else if (!(await itEnds(task, position))) {
          stuck.push(task.taskId)
          return
        }
      } finally {
        if (isTurn) turns -= 1
      }
    }
  }
  await Promise.all(tasks.map(runsOf))
  return stuck
}

/** The position of the request in the log; `undefined` when it was refused. */
async function begin({ person, taskId }: OwnedTask, ledger: Ledger, isTurn: boolean) {
  const route = isTurn ? chatRoutes.sendMessage : taskRoutes.executeTask
  const answer = await ledger.write({
    person,
    taskId,
    what: isTurn ? 'a turn' : 'a command',
    method: 'POST',
    path: route.path.replace(':taskId', taskId),
    bodyWith: (mark) =>
      isTurn ? { message: `${asking(speech)}, ${mark}` } : { command: `${printing} # ${mark}` },
  })
  return positionOf(answer)
}

/** The position that an answer to a write names; reads from it on show the write. */
export const positionOf = ({ body }: Answer) => Position.safeParse(body).data?.position

/** Resolves when the run that was requested at the position has ended: to `false` when it does not end in time. */
export async function itEnds({ person, taskId }: OwnedTask, position: string): Promise<boolean> {
  for (const end = performance.now() + endsWithinMs; performance.now() < end;) {
    await pause(betweenLooksMs)
    const answer = await answerOf(() => person.api('GET', `/tasks/${taskId}?minPosition=${position}`))
    const state = State.safeParse(answer?.body)
    if (answer?.status === 200 && state.success && hasEnded(state.data.task)) return true
  }
  return false
}
