/** The messages of failed calls for a project's settings. Apart from the texts of the settings, which a task's page does not load. */
export const faults = {
  notFetched: 'Failed to fetch settings',
  notSaved: 'Failed to save settings',
  notSet: 'Failed to save secret',
  notRemoved: 'Failed to remove secret',
} as const
