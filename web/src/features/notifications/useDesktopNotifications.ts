/** Desktop notifications: whether the person has chosen them, whether the browser allows them, and their texts. */
import { useState } from 'react'
import { desktopNotifications, recall } from '../../state/persisted.ts'
import { usePersisted } from '../../state/usePersisted.ts'

/** Whether desktop notifications are shown. With `unasked`, the person has not chosen yet. */
type Desktop = 'unsupported' | 'denied' | 'unasked' | 'off' | 'on'

/** The state of desktop notifications, and functions to change it; `turnOn` asks for the browser's permission if necessary. */
export function useDesktopNotifications() {
  const [choice, setChoice] = usePersisted(desktopNotifications)
  const [permission, setPermission] = useState(permissionNow)
  const turnOn = async () => {
    const answer = await Notification.requestPermission()
    setPermission(answer)
    setChoice(answer === 'granted' ? 'on' : 'off')
  }
  return {
    desktop: desktopOf(choice, permission),
    turnOn: () => void turnOn(),
    turnOff: () => setChoice('off'),
  }
}

/** Whether the person and the browser allow a notification now. */
export function mayNotify(): boolean {
  return desktopOf(recall(desktopNotifications), permissionNow()) === 'on'
}

function desktopOf(choice: 'unasked' | 'on' | 'off', permission: NotificationPermission | null): Desktop {
  if (permission === null) return 'unsupported'
  if (permission === 'denied') return 'denied'
  // When the permission was withdrawn, the setting counts as off: only the person may make the page ask for it again.
  return choice === 'on' && permission !== 'granted' ? 'off' : choice
}

function permissionNow(): NotificationPermission | null {
  return 'Notification' in window ? Notification.permission : null
}

export const texts = {
  ask: 'Get notified when a task finishes or waits for you?',
  yes: 'Turn On Notifications',
  no: 'Not Now',
  title: 'Notifications',
  label: 'Notify me when a task finishes or waits for me in the background',
  why: 'Shown by this browser while Flightdeck is in the background.',
  denied:
    'Notifications are blocked. Allow them for this site in your browser settings, then turn them on here.',
  unsupported: 'This browser does not support notifications.',
  on: 'On',
  off: 'Off',
  ended: { completed: 'Completed', failed: 'Failed', cancelled: 'Cancelled' },
  waiting: 'Waiting for you',
  body: (what: string, project: string) => `${what} · ${project}`,
} as const
