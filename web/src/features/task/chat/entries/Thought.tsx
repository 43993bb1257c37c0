/** A thought of the agent, or a text of a sub-agent: one muted line, and the whole text when the line is expanded. */
import { Brain, ChevronRight, MessageSquareText } from 'lucide-react'
import { useState } from 'react'
import type { LogDocument } from '#domain/views/commandLog.ts'
import { classes } from '../../../../ui/classes.ts'
import { Status } from '../../../../ui/status/Status.tsx'
import { elapsed } from '../../../../ui/text/times.ts'
import { texts } from '../texts.ts'
import { texts as stepTexts } from '../stepTexts.ts'
import { MarkdownText } from './MessageBody.tsx'

export function Thought({ log: { kind, status, durationMs, output } }: { readonly log: LogDocument }) {
  const [unfolded, setUnfolded] = useState(false)
  const growing = status === 'running'
  const Icon = kind === 'said' ? MessageSquareText : Brain
  return (
    <div className="my-0.5 -mx-2 md:ml-5">
      <button
        type="button"
        aria-expanded={unfolded}
        onClick={() => setUnfolded(!unfolded)}
        className="focus-inset flex h-11 w-full items-center gap-2 rounded-control px-2 text-left text-ui text-muted transition-colors hover:bg-raised md:h-7"
      >
        <Icon className="size-3.5" />
        <span className="flex-none">
          {kind === 'said'
            ? stepTexts.said
            : growing
              ? texts.chat.thinking
              : // The duration of a thought of less than a second is not shown.
                texts.chat.thought(durationMs === null || durationMs < 1_000 ? null : elapsed(durationMs))}
        </span>
        <span className="min-w-0 flex-1 truncate">{kind === 'said' && !unfolded && output}</span>
        {growing && <Status status="running" iconOnly />}
        <ChevronRight className={classes('size-3 transition-transform', unfolded && 'rotate-90')} />
      </button>
      {unfolded && (
        <div className="mx-2 mb-1.5 border-l-2 border-line pl-3 text-ui text-muted">
          {output === null ? <p>{texts.chat.erased}</p> : <MarkdownText text={output} growing={growing} />}
        </div>
      )}
    </div>
  )
}
