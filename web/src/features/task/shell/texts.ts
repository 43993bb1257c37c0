/** Texts of a task's shell. */
export const texts = {
  label: 'Shell',
  leave: 'Ctrl+` leaves the shell',
  connecting: 'Connecting',
  open: 'Open',
  offline: 'Offline',
  ended: 'Ended',
  shared: "In the agent's sandbox",
  apart: 'In a sandbox of its own: it shares the files with the agent, but not its programs',
  close: 'Close Shell',
  again: 'Open a New Shell',
  tryAgain: 'Try Again',
  notOpened: 'The shell could not be opened',
  notAnswered: 'The server did not answer in time.',
  gone: 'The shell is gone.',
  none: 'No shell was open at this moment',
  noneWhy: 'What shells printed appears here when the replay comes to it.',
} as const
