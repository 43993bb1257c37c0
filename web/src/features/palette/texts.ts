/** Texts of the palette and of the list of shortcuts. */
export const texts = {
  label: 'Search or run a command',
  results: 'Results',
  close: 'Close',
  groups: { tasks: 'Tasks', projects: 'Projects', actions: 'Actions' },
  found: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  nothing: 'Nothing found',
  nothingWhy: 'No matching tasks, projects or actions.',
  /** The palette does not search older tasks. */
  nothingInLatest: (tasks: number) =>
    `No matching projects or actions, and no match in your latest ${tasks} tasks.`,
  tasks: (count: number) => `${count} ${count === 1 ? 'task' : 'tasks'}`,
  newTaskIn: (project: string) => `New task in ${project}`,
  openOutside: (project: string) => `Open ${project} on GitHub`,
  foot: { move: 'Move', open: 'Open', newTab: 'Open in a new tab', shortcuts: 'All shortcuts' },
  shortcuts: {
    title: 'Shortcuts',
    note: 'Shortcuts depend on the page. Single keys are off while you type.',
    or: 'or',
  },
} as const
