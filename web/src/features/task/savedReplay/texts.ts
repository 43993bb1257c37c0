/** What a saved replay and the button that saves it say. */
export const texts = {
  save: 'Save the replay as a file',
  notSaved: 'Failed to save the replay',
  says: (savedAt: string) =>
    `A replay of the task as it was recorded until ${savedAt}. Code changes and images are not part of this file.`,
  label: 'Saved replay',
  readOnly: 'This is a saved replay. Nothing can be written here.',
  unreadable: 'This file holds no replay that can be shown',
  unreadableWhy: 'It may have been cut short. Save the replay of the task again.',
  empty: 'Nothing was recorded',
  emptyWhy: 'Nothing had happened in this task when the replay was saved.',
} as const
