/** Texts of this feature that the task page needs before the rest of the feature is loaded. */
export const texts = {
  fork: 'New task from here',
  undo: 'Undo this turn',
  undone: 'Undone',
  from: 'Forked from',
} as const
