/**
 * Formats times. Pure: `at` is in the format of ISO 8601, and `now` is in milliseconds since 1970. In English like all texts, and by hand, since the
 * browser's own formatters cost a millisecond each and lists have many.
 */

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
export const months =
  'January,February,March,April,May,June,July,August,September,October,November,December'.split(',')
const monthOf = (time: Date) => months[time.getMonth()] ?? ''
export const twoDigits = (number: number) => String(number).padStart(2, '0')
const hoursAndMinutes = (time: Date) => `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`

/** `Nov 20`; `N/A` for a missing or invalid time. */
export function shortDate(at: string | null | undefined): string {
  const time = at ? new Date(at) : null
  if (time === null || Number.isNaN(time.getTime())) return 'N/A'
  return `${monthOf(time).slice(0, 3)} ${time.getDate()}`
}

/** `14:31:25`, in the reader's time zone. */
export function clockTime(at: string): string {
  const time = new Date(at)
  return `${hoursAndMinutes(time)}:${twoDigits(time.getSeconds())}`
}

/** The time of a chat message: `Just now`, `4m ago`, `2h ago`, else `14:31`. */
export function messageTime(at: string, now: number): string {
  return now - Date.parse(at) < day ? age(at, now) : hoursAndMinutes(new Date(at))
}

/** An age in lists: `Just now`, `4m ago`, `2h ago`, `3d ago`. */
export function age(at: string, now: number): string {
  const passed = now - Date.parse(at)
  if (passed < minute) return 'Just now'
  if (passed < hour) return `${Math.floor(passed / minute)}m ago`
  if (passed < day) return `${Math.floor(passed / hour)}h ago`
  return `${Math.floor(passed / day)}d ago`
}

/** `Today`, `Yesterday`, or `Thursday, November 20`, in the reader's time zone. */
export function dayLabel(at: string, now: number): string {
  const then = new Date(at)
  const today = new Date(now)
  if (sameDay(then, today)) return 'Today'
  // By the calendar, because a day can have 23 or 25 hours.
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1)
  if (sameDay(then, yesterday)) return 'Yesterday'
  return `${weekdays[then.getDay()]}, ${monthOf(then)} ${then.getDate()}`
}

function sameDay(a: Date, b: Date): boolean {
  return a.getFullYear() === b.getFullYear() && a.getMonth() === b.getMonth() && a.getDate() === b.getDate()
}

/** A duration in whole seconds: `8s`, `4m 12s`; from an hour on, in minutes: `1h 04m`. Never negative. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / second))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${twoDigits(seconds % 60)}s`
  return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`
}

/** How long something took: like `elapsed`, with tenths under a minute. */
export function took(ms: number): string {
  return ms < minute ? `${(Math.max(0, ms) / second).toFixed(1)}s` : elapsed(ms)
}
