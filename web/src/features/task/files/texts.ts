/** Texts of the files of a task. */
import type { FilesFrom } from '#domain/api/taskFiles.schema.ts'

const from = {
  workspace: () => 'Files of the workspace, as they are now',
  saved: () => 'Files as they were saved after the last turn',
  pushed: (branch: string) => `Files of ${branch}, as last fetched`,
  base: (branch: string) => `Files of ${branch}, from which the task begins`,
} as const satisfies Record<FilesFrom['kind'], (branch: string) => string>

export const texts = {
  title: 'Files',
  from: ({ kind, branch }: FilesFrom) => from[kind](branch),
  loading: 'Loading files',
  notRead: 'Failed to read the files',
  notDownloaded: 'Failed to download the file',
  notInitialized: 'Repository Not Initialized',
  tryAgain: 'Try Again',
  refresh: 'Refresh',
  empty: 'No Files',
  emptyWhy: 'The repository has no files yet.',
  emptyFolder: 'Empty folder',
  leftOut: (count: number) =>
    `${count.toLocaleString('en-US')} more ${count === 1 ? 'entry is' : 'entries are'} not listed. Search for them.`,
  kinds: {
    folder: '',
    file: '',
    link: 'Link',
    repository: 'Separate repository',
    other: 'Not a plain file',
  },

  search: 'Search files',
  closeSearch: 'Close search',
  results: 'Found files',
  found: (count: number) => (count === 1 ? '1 file' : `${count} files`),
  firstFound: (count: number) => `First ${count} files`,
  noneFound: 'No matching files.',

  choose: 'Select a file',
  chooseWhy: 'Its content is shown here.',
  back: 'Back to files',
  copyPath: 'Copy path',
  copyLink: 'Copy link',
  linkCopied: 'Link to the file',
  download: 'Download',
  downloadLimit: (limit: string) => `Files over ${limit} can't be downloaded.`,
  lineCut: (count: number) => `… ${count} more characters`,
  line: (number: number) => `Line ${number}`,
  content: (path: string) => `Content of ${path}`,
  cut: (size: string) => `Only the beginning of this file is shown. It has ${size}.`,
  redacted: 'Secrets in this file are hidden.',
  redactedDownload: 'Secrets were removed from the downloaded file.',
  stale: "The file couldn't be read again, so it may have changed.",
  isFolder: 'This is a folder.',
  unshown: {
    binary: 'Binary file',
    link: (target: string) => `Symbolic link to ${target}. It is not followed.`,
    repository: 'A separate repository. Its files are not part of this one.',
    other: 'Not a plain file, for example a pipe, or a file that was replaced just now. It is not opened.',
    empty: 'Empty file',
  },
} as const

/** A number of bytes: `12 bytes`, `3.4 kB`, `1.1 GB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  const power = Math.min(3, Math.floor(Math.log10(bytes) / 3))
  const unit = ['', 'kB', 'MB', 'GB'][power] ?? ''
  return `${(bytes / 1_000 ** power).toFixed(1).replace(/\.0$/, '')} ${unit}`
}

/** A name or path with its control characters made visible: a line break as `␊`. */
export function shownName(name: string): string {
  return name.replace(/\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
  })
}
