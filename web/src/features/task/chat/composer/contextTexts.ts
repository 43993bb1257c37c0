/** Texts about how full the agent's context is. */
export const texts = {
  percent: (percent: number) => `${percent} % of the context used`,
  tokens: (used: string, window: string) => `${used} of ${window} tokens`,
} as const
