/** Texts of a project's environment. */
const list = new Intl.ListFormat('en-GB')

export const texts = {
  title: 'Environment',
  why: 'What the setup command left in files that git ignores, and the caches of its package managers. New tasks get a copy and start at once, instead of running the setup again. It is made again when the setup command, its variables, an ignore file or a lock file changes.',
  loading: 'Loading environment...',
  noSetup: 'No setup command, so there is nothing to prepare.',
  none: 'Not prepared yet. The first task does it, or you do it now.',
  building: (time: string) => `Preparing for ${time}`,
  ready: (age: string, took: string, size: string) => `Prepared ${age} · took ${took} · ${size}`,
  failed: (age: string) => `Failed ${age}`,
  changed: (isBuilding: boolean, names: readonly string[]) =>
    `${isBuilding ? 'Rebuilding' : 'Rebuilt'} because ${names.length === 0 ? 'a lock file' : list.format(names)} changed.`,
  earlier: 'Tasks use the earlier one of the same setup command if the setup fails again.',
  leftOut: (names: readonly string[]) =>
    `Left out, because they contain a secret of the project: ${names.join(', ')}.`,
  log: 'Output of the setup',
  rebuild: 'Rebuild',
  rebuilding: 'Preparing...',
  begun: 'The environment is being prepared',
  notBegun: 'Failed to prepare the environment',
  notFetched: 'Failed to fetch the environment',
} as const
