/** Notifications of the desktop: whether the person wants them and the browser allows them. */
import { useState } from 'react'
import { desktopNotifications, recall, usePersisted } from '../../state/persisted.ts'

/** `unasked`: neither the person nor the browser was asked yet. */
export type Desktop = 'unsupported' | 'denied' | 'unasked' | 'off' | 'on'

interface DesktopChoice {
  readonly desktop: Desktop
  /** Asks the browser where it has to be asked. */
  readonly turnOn: () => void
  readonly turnOff: () => void
}

export function useDesktop(): DesktopChoice {
  const [wanted, setWanted] = usePersisted(desktopNotifications)
  const [permission, setPermission] = useState(permissionNow)
  const turnOn = async () => {
    const answer = await Notification.requestPermission()
    setPermission(answer)
    setWanted(answer === 'granted' ? 'on' : 'off')
  }
  return {
    desktop: desktopOf(wanted, permission),
    turnOn: () => void turnOn(),
    turnOff: () => setWanted('off'),
  }
}

/** Whether one may be shown now. */
export function mayNotify(): boolean {
  return desktopOf(recall(desktopNotifications), permissionNow()) === 'on'
}

function desktopOf(wanted: 'unasked' | 'on' | 'off', permission: NotificationPermission | null): Desktop {
  if (permission === null) return 'unsupported'
  if (permission === 'denied') return 'denied'
  // A permission that was taken back is not asked for again by the page itself.
  if (wanted === 'on') return permission === 'granted' ? 'on' : 'off'
  return wanted
}

function permissionNow(): NotificationPermission | null {
  return 'Notification' in window ? Notification.permission : null
}
