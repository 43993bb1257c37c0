/** What is said of notifications of the desktop, and in them. */
export const texts = {
  ask: 'Do you want to be told when a task ends while you look elsewhere?',
  yes: 'Turn on notifications',
  no: 'Not now',
  title: 'Notifications',
  label: 'When a task ends while you look elsewhere',
  why: 'This browser tells you when a task ends while Flightdeck is not in front.',
  denied:
    'This browser does not allow notifications of Flightdeck. Allow them in its settings for this site, then turn them on here.',
  unsupported: 'This browser has no notifications.',
  on: 'On',
  off: 'Off',
  ended: { completed: 'Completed', failed: 'Failed', cancelled: 'Cancelled' },
  body: (ended: string, project: string) => `${ended} · ${project}`,
} as const
