/** The dock below the chat: open questions, the queue, the running turn, the box for the next message, and how full the context is. */
import { type ReactNode, Suspense, useMemo, useRef, useState } from 'react'
import type { ShownImage } from '#domain/api/images.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import type { LogDocument } from '#domain/views/commandLog.ts'
import type { AgentName } from '#domain/agents.ts'
import { Checkbox } from '../../../../ui/form/Choice.tsx'
import { optionalPart } from '../../../../ui/optionalPart.tsx'
import { useMedia, useStable } from '../../../../ui/hooks.ts'
import { DropHint, useImageDrop } from '../../../images/useImageDrop.tsx'
import type { PendingImages } from '../../../images/usePendingImages.ts'
import { useProjectSettingsQuery } from '../../../projects/settings/projectSettingsApi.ts'
import { useTaskActions } from '../../useTaskActions.ts'
import { chatWidth } from '../chatWidth.ts'
import { Queue } from '../queue/Queue.tsx'
import { texts } from '../texts.ts'
import { MessageBox } from './MessageBox.tsx'

const OpenQuestions = optionalPart(
  async () => (await import('../../questions/questionsChunk.ts')).OpenQuestions,
)
const TaskChoices = optionalPart(async () => (await import('./TaskChoices.tsx')).TaskChoices)
/** A placeholder as wide as the picker of the model, so that nothing moves when the picker is loaded. */
const pickerPlace = <span className="w-24 flex-none md:w-60" />

const ContextUse = optionalPart(async () => (await import('./ContextUse.tsx')).ContextUse)
const TurnHead = optionalPart(async () => (await import('./TurnHead.tsx')).TurnHead)

interface ChatComposerProps {
  readonly task: Task
  readonly agent: AgentName
  readonly agentChoice: ReactNode
  readonly tools: Readonly<Record<string, LogDocument>>
  /** The images of the next message. */
  readonly pending: PendingImages
  readonly queue: readonly MessageDocument[]
  /** Reads the task's history again. */
  readonly onReload: () => void
  readonly onSend: (
    text: string,
    isCommand: boolean,
    images?: readonly ShownImage[],
    withSecrets?: boolean,
  ) => void
}

export function ChatComposer({
  task,
  agent,
  agentChoice,
  tools,
  pending,
  queue,
  onReload,
  onSend,
}: ChatComposerProps) {
  const box = useRef<HTMLTextAreaElement>(null)
  const [isCommand, setCommand] = useState(false)
  const [withSecrets, setWithSecrets] = useState(false)
  const { data } = useProjectSettingsQuery(task.project.id, { skip: !isCommand })
  const hasSecrets = (data?.settings.secrets.length ?? 0) > 0
  const { cancel, cancelling } = useTaskActions(task)
  const drop = useImageDrop(pending.add)
  const running = task.status === 'running'
  // On a phone, the task's header shows the turn, and the box has the stop button.
  const wide = useMedia('(width >= 768px)')
  // A stable function: the chat renders with each word of an agent, but the box must render only when its props change.
  const send = useStable((text: string, asCommand: boolean, images: readonly ShownImage[]) => {
    onSend(text, asCommand, images, asCommand && withSecrets)
    // The person's choice to use secrets holds for one command only.
    setWithSecrets(false)
  })
  const stop = useStable(cancel)
  const { id, codexModel, modelAgent, effort, mode } = task
  const used = task.usage.model
  const model = useMemo(
    () => (
      <Suspense fallback={pickerPlace}>
        <TaskChoices task={{ id, codexModel, modelAgent, effort, mode }} {...{ used, agent, running }} />
      </Suspense>
    ),
    [id, codexModel, modelAgent, effort, used, agent, mode, running],
  )

  return (
    <div className={`w-full flex-none md:px-4 md:pb-4 ${chatWidth}`}>
      {task.waitingFor !== null && (
        <Suspense fallback={null}>
          <OpenQuestions onReload={onReload} />
        </Suspense>
      )}
      <Queue task={task} queue={queue} box={box} onSend={onSend} />
      <div
        {...drop.handlers}
        // On a phone the composer is the foot of the page, at full width.
        className="relative border-t border-control bg-panel focus-within:border-accent md:rounded-panel md:border md:focus-within:ring md:focus-within:ring-accent"
      >
        {isCommand ? (
          <div className="border-b border-line-soft px-3 py-1 text-meta text-muted">
            <p className="flex min-h-6 items-center">{texts.composer.commandBanner}</p>
            {hasSecrets && (
              <>
                <Checkbox checked={withSecrets} onChange={setWithSecrets}>
                  {texts.composer.withSecrets}
                </Checkbox>
                {withSecrets && <p className="pb-1">{texts.composer.withSecretsWhy}</p>}
              </>
            )}
          </div>
        ) : (
          running &&
          wide && (
            <Suspense fallback={<div className="h-8 border-b border-line-soft" />}>
              <TurnHead task={task} tools={tools} cancel={cancel} cancelling={cancelling} />
            </Suspense>
          )
        )}
        <MessageBox
          box={box}
          taskId={task.id}
          agent={agent}
          agentChoice={agentChoice}
          model={model}
          usage={task.usage}
          isCommand={isCommand}
          onCommand={setCommand}
          pending={pending}
          mayStop={running && !cancelling}
          onStop={stop}
          onSend={send}
        />
        {drop.over && <DropHint most={pending.most} />}
        {task.context && (
          <Suspense fallback={null}>
            <ContextUse context={task.context} />
          </Suspense>
        )}
      </div>
    </div>
  )
}
