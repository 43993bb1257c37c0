/** Texts about desktop notifications. */
export const texts = {
  ask: 'Get notified when a task finishes?',
  yes: 'Turn On Notifications',
  no: 'Not Now',
  title: 'Notifications',
  label: 'Notify me when a task finishes in the background',
  why: 'Shown by this browser while Flightdeck is in the background.',
  denied:
    'Notifications are blocked. Allow them for this site in your browser settings, then turn them on here.',
  unsupported: 'This browser does not support notifications.',
  on: 'On',
  off: 'Off',
  ended: { completed: 'Completed', failed: 'Failed', cancelled: 'Cancelled' },
  body: (ended: string, project: string) => `${ended} · ${project}`,
} as const
