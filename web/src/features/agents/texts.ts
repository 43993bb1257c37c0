/** What is said of the agents. */
export const texts = {
  title: 'Agents',
  notFetched: 'Failed to fetch agents',
  ready: 'Ready',
  filter: 'Search agents...',
  none: 'No agents found',
  keyInBox:
    "Its API key is passed into the sandbox. Anything that runs there, including your repository's code, can read it.",
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
