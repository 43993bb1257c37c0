/** Shows how full the agent's context is, at the edge of the composer. The composer must be a positioned element. */
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
      // Below the composer or, on a phone, on its upper border. It is positioned absolutely, so nothing moves when it appears.
      className="absolute -top-2 right-3 bg-panel px-1 text-meta text-muted md:top-full md:right-0 md:bg-transparent"
    >
      {texts.percent(Math.min(100, Math.round((100 * usedTokens) / windowTokens)))}
    </span>
  )
}
