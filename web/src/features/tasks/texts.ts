export const texts = {
  notFetched: 'Failed to fetch tasks',
  notLoaded: 'Failed to fetch task',
  notCreated: 'Failed to create task',
  notDeleted: 'Failed to delete task',
  progress: 'Progress',
  /** Shown before a status while the connection is lost. */
  lastKnown: 'Last known:',
  noChanges: 'No changes',
  pullRequest: (number: number, state: string | null) =>
    state === null ? `Pull request #${number}` : `Pull request #${number}: ${state}`,
  states: { open: 'Open', draft: 'Draft', merged: 'Merged', closed: 'Closed' },
  fromIssue: (number: number) => `From issue #${number}`,
} as const
