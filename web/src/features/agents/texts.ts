/** What is said of the agents. */
export const texts = {
  title: 'Agents',
  notFetched: 'Failed to fetch agents',
  ready: 'ready',
  keyInBox:
    'Its key enters the box that it runs in: what runs there, the code of your repository included, can read it.',
  model: {
    label: 'Model',
    ofAgent: 'Default model',
    filter: 'Search or type a model...',
    none: 'No models found',
    use: (name: string) => `Use ${name}`,
    impossible: 'This cannot be the name of a model.',
  },
} as const
