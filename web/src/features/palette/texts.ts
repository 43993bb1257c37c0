/** What the palette and the sheet of shortcuts say. */
export const texts = {
  label: 'Search or run a command',
  results: 'Results',
  close: 'Close',
  groups: { tasks: 'Tasks', projects: 'Projects', actions: 'Actions' },
  found: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  nothing: 'Nothing found',
  nothingWhy: 'No task, no project and no action has these words.',
  tasks: (count: number) => `${count} ${count === 1 ? 'task' : 'tasks'}`,
  newTaskIn: (project: string) => `New task in ${project}`,
  openOutside: (project: string) => `Open ${project} on GitHub`,
  foot: { move: 'Move', open: 'Open', newTab: 'Open in a new tab', shortcuts: 'All shortcuts' },
  shortcuts: {
    title: 'Shortcuts',
    note: 'A shortcut works where what it does can be done. Single keys do nothing while you write.',
    or: 'or',
  },
} as const
