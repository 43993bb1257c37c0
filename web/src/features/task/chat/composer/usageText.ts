/** Model usage in words: `5.7k tokens · $0.03`; `null` when there was none. */
import { texts } from '../texts.ts'

export const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
export const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

interface Used {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

export function usageText({ inputTokens, outputTokens, costUsd }: Used): string | null {
  const tokens = inputTokens + outputTokens
  if (tokens === 0) return null
  return texts.composer.usage(compact.format(tokens).toLowerCase(), dollars.format(costUsd))
}
