/** A turn of an agent. After it has ended, its tool calls, and with them its thoughts, collapse to one line. */
import { ChevronRight, Wrench } from 'lucide-react'
import { memo, Suspense, useState } from 'react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { agentNamed } from '#domain/agents.ts'
import { retrySentence } from '#domain/task/modelRetry.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { AgentMark } from '../../../../ui/AgentMark.tsx'
import { optionalPart } from '../../../../ui/optionalPart.tsx'
import { classes } from '../../../../ui/classes.ts'
import { took, clockTime, elapsed } from '../../../../ui/text/times.ts'
import { samePart, spanOf, summaryOf, type TurnEntry } from '../chatTimeline.ts'
import type { TurnPart } from '../turnParts.ts'
import { texts as forkTexts } from '../../fork/headerTexts.ts'
import { useTurnActions } from '../../fork/useTurnActions.tsx'
import { isCall, logsIn } from '../nestedTools.ts'
import { MarkdownText, MessageBody } from './MessageBody.tsx'
import { MessageHead } from './MessageHead.tsx'
import { texts } from '../texts.ts'
import { usageText } from '../composer/usageText.ts'
import { useTaskSeconds } from '../../replayContext.ts'

const StartProgress = optionalPart(async () => (await import('./StartProgress.tsx')).StartProgress)
const ToolRow = optionalPart(async () => (await import('./ToolRow.tsx')).ToolRow)
const QuestionCard = optionalPart(
  async () => (await import('../../questions/questionsChunk.ts')).QuestionCard,
)

export type TurnUsage = NonNullable<NonNullable<Task['execution']>['usage']>

interface TurnProps {
  readonly turn: TurnEntry
  readonly taskId: string
  readonly execution: Task['execution']
  readonly usage: TurnUsage | undefined
  readonly isUndone: boolean
  readonly wasSeen: (messageId: string) => boolean
}

/** How many parts of a turn are rendered at first, and how many more on each request. */
const partsPerStep = 100

export function Turn({ turn, taskId, execution, usage, isUndone, wasSeen }: TurnProps) {
  const finished = turn.live ? null : { executionId: turn.key, agent: turn.agent, isUndone }
  const { items, dialog } = useTurnActions(finished)
  const [unfolded, setUnfolded] = useState(false)
  const [renderedCount, setRenderedCount] = useState(partsPerStep)
  const steps = logsIn(turn.parts.filter(isFolded))
  const tools = steps.filter(isCall)
  const folds = !turn.live && tools.length > 0
  const all = folds && !unfolded ? turn.parts.filter((part) => !isFolded(part)) : turn.parts
  // A turn with thousands of steps must not slow the page: only the latest are rendered, more on request.
  const hidden = Math.max(0, all.length - renderedCount)
  const parts = hidden === 0 ? all : all.slice(hidden)
  return (
    <article className={classes('group/message mt-3.5 px-4', isUndone && 'border-l-2 border-line')}>
      <MessageHead
        mark={<AgentMark agent={turn.agent} />}
        name={agentNamed(turn.agent).label}
        at={turn.at}
        status={turn.status}
        detail={isUndone ? forkTexts.undone : usage === undefined ? null : usageText(usage)}
        taskId={taskId}
        text={textOf(turn.parts)}
        more={items}
      />
      {dialog}
      {folds && (
        <button
          type="button"
          aria-expanded={unfolded}
          onClick={() => setUnfolded(!unfolded)}
          className="focus-inset my-1.5 -ml-2 flex h-11 w-[calc(100%+16px)] items-center gap-2 rounded-control px-2 text-left text-ui text-muted transition-colors hover:bg-raised md:ml-5 md:h-7 md:w-[calc(100%-12px)]"
        >
          <Wrench className="size-3.5" />
          <span className="flex-none font-medium text-text">
            {texts.chat.toolCalls(tools.length, turn.partial)}
          </span>
          <span className="min-w-0 flex-1 truncate">{summaryOf(steps)}</span>
          <span className="flex-none text-meta">{took(spanOf(steps))}</span>
          <ChevronRight className={classes('size-3 transition-transform', unfolded && 'rotate-90')} />
        </button>
      )}
      {hidden > 0 && (
        <button
          type="button"
          onClick={() => setRenderedCount(renderedCount + partsPerStep)}
          className="focus-inset my-1.5 flex h-11 items-center gap-2 rounded-control px-2 text-ui text-accent hover:underline md:ml-5 md:h-7"
        >
          {texts.chat.earlierSteps(hidden)}
        </button>
      )}
      {parts.map((part) => (
        <Part key={part.key} part={part} wasSeen={wasSeen} />
      ))}
      {turn.live && execution !== null && !turn.parts.some(isOfAgent) && (
        <Suspense fallback={<div className="my-1.5 h-[118px]" />}>
          <StartProgress execution={execution} />
        </Suspense>
      )}
    </article>
  )
}

const looks: Readonly<Partial<Record<MessageDocument['messageType'], string>>> = {
  error: 'text-bad',
  system: 'text-muted',
}

interface PartProps {
  readonly part: TurnPart
  readonly wasSeen: (messageId: string) => boolean
}

/** A part that renders only when it changes: a turn may have many steps before the text that is being written. */
const Part = memo(
  PartContent,
  (before, now) => before.wasSeen === now.wasSeen && samePart(before.part, now.part),
)

function PartContent({ part, wasSeen }: PartProps) {
  switch (part.kind) {
    case 'tool':
      return (
        <Suspense fallback={<div className="my-0.5 h-11 md:h-7" />}>
          <ToolRow part={part} />
        </Suspense>
      )
    case 'question':
      return (
        <Suspense fallback={null}>
          <QuestionCard question={part.question} />
        </Suspense>
      )
    case 'text': {
      const { messageId, message, messageType, modelRetry } = part.message
      return (
        <div className={classes('my-1.5 md:pl-7', looks[messageType])}>
          {modelRetry ? (
            <ModelRetryNote retry={modelRetry} />
          ) : message === null ? (
            <p className="text-muted">{texts.chat.erased}</p>
          ) : (
            <MessageBody text={message} markdown expanded={wasSeen(messageId)} />
          )}
        </div>
      )
    }
    case 'writing':
      return (
        <div className="writing my-1.5 md:pl-7">
          <MarkdownText text={part.writing.text} growing />
        </div>
      )
  }
}

/** Whether the part collapses after the turn: all steps do, but artifacts do not. */
function isFolded(part: TurnPart): boolean {
  return part.kind === 'tool' && part.log.kind !== 'artifact'
}

/** Whether the part shows that the agent has begun: system messages do not. */
function isOfAgent(part: TurnPart): boolean {
  return part.kind !== 'text' || part.message.messageType !== 'system'
}

function textOf(parts: readonly TurnPart[]): string {
  return parts
    .flatMap((part) => {
      if (part.kind === 'text') return part.message.message ?? []
      return part.kind === 'writing' ? part.writing.text : []
    })
    .join('\n\n')
}

/** A note that a turn waits for its model: the reason, the time of the next attempt, and a countdown. */
function ModelRetryNote({ retry }: { readonly retry: NonNullable<MessageDocument['modelRetry']> }) {
  const left = Date.parse(retry.retryAt) - useTaskSeconds()
  return (
    <p className="text-muted">
      {retrySentence(retry.code, clockTime(retry.retryAt))}
      {left > 0 && <span className="text-meta"> {texts.chat.retryIn(elapsed(left))}</span>}
    </p>
  )
}
