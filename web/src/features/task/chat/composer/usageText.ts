/** Model usage in words: `5.7k tokens · $0.03`; `null` for none. */
import { texts } from '../texts.ts'

interface Used {
  readonly inputTokens: number
  readonly outputTokens: number
  /** US dollars. */
  readonly costUsd: number
}

export function usageText({ inputTokens, outputTokens, costUsd }: Used): string | null {
  const tokens = inputTokens + outputTokens
  if (tokens === 0) return null
  const count = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
    .format(tokens)
    .toLowerCase()
  const cost = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(costUsd)
  return texts.composer.usage(count, cost)
}
