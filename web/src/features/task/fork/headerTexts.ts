/** What the task page says before the rest of this feature is loaded. */
export const texts = {
  fork: 'New task from here',
  undo: 'Undo this turn',
  undone: 'Undone',
  from: 'Forked from',
} as const
