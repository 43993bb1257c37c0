/** How times are said: pure functions of a time and of now, both in milliseconds since 1970. */

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** `Nov 20`; `N/A` for what is no time. */
export function shortDate(at: string | null | undefined): string {
  const time = at ? new Date(at) : null
  if (time === null || Number.isNaN(time.getTime())) return 'N/A'
  return time.toLocaleDateString('en-US', { month: 'short', day: 'numeric' })
}

/** `14:31:25`, in the reader's zone. */
export function clockTime(at: string): string {
  return new Date(at).toLocaleTimeString('en-GB')
}

/** A chat message's time: `Just now`, `4m ago`, `2h ago`, else `14:31`. */
export function messageTime(at: string, now: number): string {
  const age = now - Date.parse(at)
  if (age < minute) return 'Just now'
  if (age < hour) return `${Math.floor(age / minute)}m ago`
  if (age < day) return `${Math.floor(age / hour)}h ago`
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

/** An age in lists: `Just now`, `4m ago`, `2h ago`, `3d ago`. */
export function age(at: string, now: number): string {
  const passed = now - Date.parse(at)
  if (passed < minute) return 'Just now'
  if (passed < hour) return `${Math.floor(passed / minute)}m ago`
  if (passed < day) return `${Math.floor(passed / hour)}h ago`
  return `${Math.floor(passed / day)}d ago`
}

/** `Today`, `Yesterday`, or `Thursday, November 20`, in the reader's zone. */
export function dayLabel(at: string, now: number): string {
  const then = new Date(at)
  if (sameDay(then, new Date(now))) return 'Today'
  if (sameDay(then, new Date(now - day))) return 'Yesterday'
  return then.toLocaleDateString('en-US', { weekday: 'long', month: 'long', day: 'numeric' })
}

function sameDay(a: Date, b: Date): boolean {
  return a.getFullYear() === b.getFullYear() && a.getMonth() === b.getMonth() && a.getDate() === b.getDate()
}

/** A whole number of seconds as `8s`, `4m 12s`, `1h 04m`. Never negative. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / second))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, '0')}s`
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, '0')}m`
}

/** How long something took: like `elapsed`, with tenths under a minute. */
export function took(ms: number): string {
  return ms < minute ? `${(Math.max(0, ms) / second).toFixed(1)}s` : elapsed(ms)
}
