export const texts = {
  filter: 'Search agents...',
  none: 'No agents found',
  model: {
    label: 'Model',
    ofAgent: 'Default model',
    filter: 'Search or type a model...',
    none: 'No models found',
    use: (name: string) => `Use ${name}`,
    impossible: 'This is not a valid model name.',
    ofOther: (agent: string) => `${agent} doesn't have this model.`,
  },
} as const
