/** How full the agent's context is, at the edge of the composer, which has to be positioned. */
import type { Task } from '#domain/api/tasks.schema.ts'
import { texts } from './contextTexts.ts'
import { compact } from './usageText.ts'

const tokens = (count: number) => compact.format(count).toLowerCase()

export function ContextUse({ context }: Pick<Task, 'context'>) {
  if (!context) return null
  const { usedTokens, windowTokens } = context
  return (
    <span
      title={texts.tokens(tokens(usedTokens), tokens(windowTokens))}
      // In the space below the composer. A phone has none, so there it is on the upper border. It takes no place, so nothing moves when it appears.
      className="absolute -top-2 right-3 bg-panel px-1 text-meta text-muted md:top-full md:right-0 md:bg-transparent"
    >
      {texts.percent(Math.min(100, Math.round((100 * usedTokens) / windowTokens)))}
    </span>
  )
}
