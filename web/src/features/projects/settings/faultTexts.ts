/** What faults of a project's settings are called: apart from what the settings say, which a task's page does not load. */
export const faults = {
  notFetched: 'Failed to fetch settings',
  notSaved: 'Failed to save settings',
  notSet: 'Failed to save secret',
  notRemoved: 'Failed to remove secret',
} as const
