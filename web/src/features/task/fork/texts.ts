/** Texts about new tasks from turns, and about undone turns. */
export const texts = {
  fork: {
    title: 'New task from here',
    why: 'The new task has the files and the conversation as they were at the end of this turn, on a branch of its own. This task stays as it is.',
    ignored: 'Files that git ignores are not copied. The setup of the project makes them again.',
    transcript: 'This agent is given the conversation as text: it cannot resume the session of another.',
    message: 'Message',
    messageHelp: 'Left empty, the new task waits for its first message.',
    name: 'Title',
    agent: 'Agent',
    leave: 'Cancel',
    confirm: 'Create task',
    created: 'Task created',
    failed: "Couldn't create the task",
  },
  undo: {
    title: 'Undo this turn?',
    why: (turns: number) =>
      turns === 1
        ? 'The files and the conversation go back to what they were before this turn. The turn stays in the history, and you can bring it back.'
        : `The files and the conversation go back to what they were before this turn. It and ${turns - 1} later ${turns === 2 ? 'one stay' : 'ones stay'} in the history, and you can bring it back.`,
    loading: 'Comparing the files...',
    notCompared:
      'No runner has the files now, so they cannot be compared. They are restored when the task runs next.',
    noFiles: 'No file changes.',
    files: (total: number) => `${total} ${total === 1 ? 'file changes' : 'files change'}`,
    change: { added: 'comes back', modified: 'changes', deleted: 'is removed' },
    kept: (count: number) =>
      `${count} ${count === 1 ? 'file stays' : 'files stay'} as they are, since git ignores them now.`,
    leave: 'Cancel',
    confirm: 'Undo',
    done: 'Turn undone',
    later: 'The files are restored when the task runs next.',
    failed: "Couldn't undo the turn",
    note: 'Turns were undone. They stay in the history, and the agent does not remember them.',
    back: 'Redo',
    isBack: 'Restored',
  },
} as const
