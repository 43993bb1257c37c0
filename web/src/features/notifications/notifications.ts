/** What the product tells in passing, as toasts: the latest few, oldest first. */
import { createSlice, nanoid, type PayloadAction } from '@reduxjs/toolkit'
import { reasonOf } from '../../api/fault.ts'
import { rootReducer } from '../../state/rootReducer.ts'

export type NotificationType = 'success' | 'error' | 'warning' | 'info'

export interface Notification {
  readonly id: string
  readonly type: NotificationType
  readonly title: string
  readonly message?: string | undefined
  /** Milliseconds it is shown. */
  readonly duration: number
}

/** More than these would hide the page; the oldest goes. */
const shownAtMost = 4
/** Milliseconds (section 9). */
const durations: Record<NotificationType, number> = {
  success: 5_000,
  warning: 5_000,
  info: 5_000,
  error: 7_000,
}

const initialState: readonly Notification[] = []

const notifications = createSlice({
  name: 'notifications',
  initialState,
  reducers: {
    notified: {
      prepare: (type: NotificationType, title: string, message?: string) => ({
        payload: { id: nanoid(), type, title, message, duration: durations[type] },
      }),
      reducer: (shown, { payload }: PayloadAction<Notification>) => [...shown, payload].slice(-shownAtMost),
    },
    notificationClosed: (shown, { payload }: PayloadAction<string>) =>
      shown.filter(({ id }) => id !== payload),
  },
})

export const { notified, notificationClosed } = notifications.actions
export const notificationsReducer = notifications.reducer

declare module '../../state/rootReducer.ts' {
  interface FeatureSlices {
    notifications: readonly Notification[]
  }
}
rootReducer.inject({ reducerPath: 'notifications', reducer: notificationsReducer })

/** That something did not work, and why: the error's reason, else `fallback`; nothing that the title says already. */
export function notifiedFailure(title: string, error: unknown, fallback: string = title) {
  const reason = reasonOf(error, fallback)
  return notified('error', title, reason === title ? undefined : reason)
}

export const selectNotifications = (state: { readonly notifications?: readonly Notification[] }) =>
  state.notifications ?? initialState
