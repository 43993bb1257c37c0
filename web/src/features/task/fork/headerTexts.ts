/** Texts that the task page needs before it loads the fork and undo dialogs. */
export const texts = {
  fork: 'New task from here',
  undo: 'Undo this turn',
  undone: 'Undone',
  from: 'Forked from',
} as const
