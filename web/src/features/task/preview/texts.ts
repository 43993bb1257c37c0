/** Texts of the bar that offers previews. */
export const texts = {
  label: 'Preview',
  open: 'Open preview',
  opening: 'Opening preview',
  listens: (port: number, process: string | null) =>
    process === null ? `port ${port}` : `${process} on port ${port}`,
  ended: 'The sandbox has ended; send a message to start it again.',
  offline: 'Offline: previews cannot be opened now.',
  notFetched: 'Failed to fetch the ports of the sandbox',
  failed: 'Failed to open the preview',
} as const
