/** The start of a turn, until the agent's first tool call, question or text: each step with its duration, and what the current step waits for. */
import { CircleCheck, CircleDashed } from 'lucide-react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { classes } from '../../../../ui/classes.ts'
import { elapsed } from '../../../../ui/text/times.ts'
import { Ring } from '../../../../ui/status/Status.tsx'
import { useTaskSeconds } from '../../replayContext.ts'
import { texts } from '../texts.ts'

/** The time after which a step shows what it may be waiting for, in milliseconds. */
const long = 8_000

const steps = ['queued', 'cloning', 'setup', 'agent_started'] as const

export function StartProgress({ execution }: { readonly execution: NonNullable<Task['execution']> }) {
  const now = useTaskSeconds()
  const reached = new Map(execution.steps.map(({ step, at }) => [step, Date.parse(at)]))
  const current = steps.findLast((step) => reached.has(step)) ?? 'queued'
  return (
    <ol className="my-1.5 grid gap-0.5 text-ui md:pl-7">
      {steps.map((step, index) => {
        const since = reached.get(step)
        const next = steps.slice(index + 1).flatMap((later) => reached.get(later) ?? [])[0]
        const isCurrent = step === current
        return (
          <li
            key={step}
            aria-current={isCurrent ? 'step' : undefined}
            className={classes('flex h-7 items-center gap-2', isCurrent ? 'text-text' : 'text-muted')}
          >
            {isCurrent ? (
              <Ring className="size-3.5 text-run" />
            ) : next === undefined ? (
              <CircleDashed className="size-3.5" />
            ) : (
              <CircleCheck className="size-3.5 text-ok" />
            )}
            {texts.boot[step]}
            {isCurrent && (
              <span className="min-w-0 flex-1 truncate text-muted">
                {since !== undefined && now - since >= long
                  ? texts.boot.waitingLong[step]
                  : texts.boot.waiting[step]}
              </span>
            )}
            {!isCurrent && <span className="flex-1" />}
            {since !== undefined && (
              <span className="text-meta text-muted">
                {elapsed((next ?? (isCurrent ? now : since)) - since)}
              </span>
            )}
          </li>
        )
      })}
    </ol>
  )
}
