/** Texts about the files that an agent left for people. */
export const texts = {
  label: 'Files from the agent',
  erased: 'This file was erased.',
  open: (name: string) => `Open ${name} as text`,
  download: (name: string) => `Download ${name}`,
  notSaved: 'Not in this saved replay',
  notRead: 'Failed to fetch the files of the agent',
} as const
