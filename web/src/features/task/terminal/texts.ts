/** Texts of the terminal of a task. */
import { searchBarTexts } from '../searchBarTexts.ts'

const counts = new Intl.NumberFormat('en-US')
const lines = (count: number) => `${counts.format(count)} ${count === 1 ? 'line' : 'lines'}`

export const texts = {
  label: 'Terminal',
  empty: 'No output yet',
  emptyWhy: 'Output from the agent and your commands appears here.',
  lines,
  loading: 'Loading output...',
  latestLines: (count: number) => `The latest ${lines(count)}`,
  earlier: 'Show earlier output',
  loadingEarlier: 'Loading...',
  earlierGone: 'Earlier output is not available here.',
  earlierFailed: "Couldn't load earlier output.",
  stderr: 'stderr',
  following: 'Following',
  notFollowing: 'Not following',
  latest: 'Jump to latest',
  wrap: 'Wrap lines',
  copy: 'Copy as plain text',
  fold: 'Output of this command',
  exit: (code: number) => `exit ${code}`,
  cancelled: 'Cancelled',
  running: 'running',
  find: searchBarTexts('Find in output'),
  found: (nth: number, count: number, more: boolean) =>
    `${nth === 0 ? '' : `${counts.format(nth)} of `}${counts.format(count)}${more ? '+' : ''}`,
  notFound: 'No results',
} as const
