export const effortTexts = { label: 'Effort', ofAgent: 'default' } as const
