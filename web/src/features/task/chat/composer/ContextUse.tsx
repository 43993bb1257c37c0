/** How full the agent's context is, as a line below the composer. */
import type { Task } from '#domain/api/tasks.schema.ts'
import { texts } from './contextTexts.ts'
import { compact } from './usageText.ts'

const tokens = (count: number) => compact.format(count).toLowerCase()

export function ContextUse({ context }: Pick<Task, 'context'>) {
  if (!context) return null
  const { usedTokens, windowTokens } = context
  return (
    <p
      title={texts.tokens(tokens(usedTokens), tokens(windowTokens))}
      // Where there is a space below the composer, the line is in it, so that nothing moves when it appears.
      className="bg-panel px-3 pb-1.5 text-right text-meta text-muted md:-mb-4 md:h-4 md:bg-transparent md:px-1 md:pb-0"
    >
      {texts.percent(Math.min(100, Math.round((100 * usedTokens) / windowTokens)))}
    </p>
  )
}
