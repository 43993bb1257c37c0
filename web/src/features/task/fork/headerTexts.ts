/** Texts about new tasks from turns and about undone turns that the task page needs before the chunk with the dialogs is loaded. */
export const texts = {
  fork: 'New task from here',
  undo: 'Undo this turn',
  undone: 'Undone',
  from: 'Forked from',
} as const
