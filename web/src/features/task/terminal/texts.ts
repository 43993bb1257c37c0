/** What the terminal of a task says. */
export const texts = {
  label: 'Terminal',
  empty: 'Nothing was printed yet',
  emptyWhy: 'What the agent and your commands print appears here as it happens.',
  lines: (count: string) => `${count} lines`,
  dropped: (count: string) => `${count} earlier lines are not shown`,
  stderr: 'stderr',
  following: 'Following the end',
  notFollowing: 'Not following',
  latest: 'Jump to latest',
  wrap: 'Wrap lines',
  copy: 'Copy without colours',
  fold: 'Fold the output of this command',
  foldedLines: (count: number) => `${count} ${count === 1 ? 'line' : 'lines'}`,
  running: 'running',
} as const
