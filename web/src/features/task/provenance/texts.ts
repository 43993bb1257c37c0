/** Texts about the origin of lines. */
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
  moreRanges: (count: number) =>
    `${count.toLocaleString('en')} more. Click the number of a line in the changes to see its origin.`,
  close: 'Close',
  ofLine: (line: number) => `Origin of line ${line}`,
  turn: {
    turn: (number: number | null) => (number === null ? 'Turn' : `Turn ${number}`),
    command: (number: number | null) => (number === null ? 'Command' : `Command (turn ${number})`),
  },
  changed:
    "This file has changed since the last turn ended, so its lines can't be traced yet. Lines of a running turn are traced when it ends.",
  call: {
    read: 'Read',
    edit: 'Edit',
    run: 'Command',
    search: 'Search',
    fetch: 'Fetch',
    todo: 'Plan',
    other: 'Tool',
  },
  counts: (additions: number, deletions: number) => `+${additions} −${deletions}`,
  unclear: (edits: number, others: number) => unclear(edits, others),
  openMoment: 'Open this moment in History',
} as const

/** The reason why no tool call is named as the writer of a line. `others` counts the tool calls that are not edits of the file. */
function unclear(edits: number, others: number): string {
  const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`
  if (edits + others === 0) return 'No tool call of this turn is recorded that could have written it.'
  const able = [
    ...(edits > 0 ? [`${counted(edits, 'edit')} of this file`] : []),
    ...(others > 0 ? [counted(others, 'other tool call')] : []),
  ]
  return edits + others === 1
    ? `The record does not say whether ${able.join('')} wrote it.`
    : `${able.join(' and ')} in this turn could have written it.`
}
