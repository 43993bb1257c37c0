/** Notifications that are shown as toasts: the latest few, oldest first. */
import { createSlice, nanoid, type PayloadAction } from '@reduxjs/toolkit'
import { reasonOf } from '../../api/fault.ts'
import { rootReducer } from '../../state/rootReducer.ts'

type NotificationType = 'success' | 'error' | 'warning' | 'info'

export interface Notification {
  readonly id: string
  readonly type: NotificationType
  readonly title: string
  readonly message?: string | undefined
  /** How long the toast is shown, in milliseconds. */
  readonly duration: number
}

/** The most toasts at a time. More would hide the page, so the oldest is removed. */
const maxNotifications = 4
/** How long toasts of each type are shown, in milliseconds (contract, section 9). */
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
      reducer: (all, { payload }: PayloadAction<Notification>) => [...all, payload].slice(-maxNotifications),
    },
    notificationClosed: (all, { payload }: PayloadAction<string>) => all.filter(({ id }) => id !== payload),
  },
})

export const { notified, notificationClosed } = notifications.actions
declare module '../../state/rootReducer.ts' {
  interface FeatureSlices {
    notifications: readonly Notification[]
  }
}
rootReducer.inject({ reducerPath: 'notifications', reducer: notifications.reducer })

/** A failure with its reason: the error's message or `fallback`, unless that equals the title. */
export function notifiedFailure(title: string, error: unknown, fallback: string = title) {
  const reason = reasonOf(error, fallback)
  return notified('error', title, reason === title ? undefined : reason)
}

/** Reports the outcome of a change: a success with this title, or a failure like `notifiedFailure` when there is an error. */
export function notifiedOutcome(
  error: unknown,
  success: string,
  failure: string,
  fallback: string = failure,
) {
  return error === undefined ? notified('success', success) : notifiedFailure(failure, error, fallback)
}

export const selectNotifications = (state: { readonly notifications?: readonly Notification[] }) =>
  state.notifications ?? initialState
