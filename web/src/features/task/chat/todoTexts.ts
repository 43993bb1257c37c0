/** Texts of the to-do list. */
export const texts = {
  todos: {
    label: 'To-do list of the agent',
    progress: (done: number, count: number) => `${done} of ${count}`,
    done: 'Done:',
    doing: 'In progress:',
    open: 'To do:',
  },
} as const
