/** The repository that a new local code host has for its first account, to try the product on. */
export const sampleRepository = {
  name: 'sample',
  description: 'Writes durations the way people say them',
} as const
