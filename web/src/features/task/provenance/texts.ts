/** What is said of where lines come from. */
export const texts = {
  title: 'Origin of lines',
  loading: 'Tracing the lines...',
  failed: "Couldn't trace the lines",
  lines: (from: number, to: number) => (from === to ? `Line ${from}` : `Lines ${from}–${to}`),
  unknown: 'Unknown: there before the task, or from others',
  erased: 'The message was erased',
  command: 'Command',
  earlierTask: 'A turn of the task that this one was forked from',
  edits: (count: number) => `${count} ${count === 1 ? 'edit' : 'edits'} of this file`,
  close: 'Close',
} as const
