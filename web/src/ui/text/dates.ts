/** Dates with their time zone, and durations, for histories. Separate from `times.ts`, which every page loads. */
import { clockTime, day, hour, minute, second, shortDate, twoDigits } from './times.ts'

/** `Friday, November 20, 2026`, in the reader's time zone. */
export function fullDate(at: string): string {
  return new Date(at).toLocaleDateString('en-US', {
    weekday: 'long',
    month: 'long',
    day: 'numeric',
    year: 'numeric',
  })
}

/** The reader's time zone at a time: `UTC`, `UTC+1` or `UTC−3:30`. */
export function zoneAt(at: string): string {
  const minutes = -new Date(at).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes > 0 ? '+' : '−'}${hours}${rest === 0 ? '' : `:${twoDigits(rest)}`}`
}

/** `Nov 20, 2026, 14:31:25 UTC+1`, in the reader's time zone. */
export function dateAndTime(at: string): string {
  return `${shortDate(at)}, ${new Date(at).getFullYear()}, ${clockTime(at)} ${zoneAt(at)}`
}

/** A key for the day of a time, in the reader's time zone. */
export function dayOf(at: string): string {
  const time = new Date(at)
  return `${time.getFullYear()}-${time.getMonth()}-${time.getDate()}`
}

/** A duration: `40 s`, `8 min`, `2 h 05 min`, `3 d 4 h`. */
export function lasting(ms: number): string {
  if (ms < minute) return `${Math.round(ms / second)} s`
  if (ms < hour) return `${Math.floor(ms / minute)} min`
  if (ms < day) return `${Math.floor(ms / hour)} h ${twoDigits(Math.floor(ms / minute) % 60)} min`
  return `${Math.floor(ms / day)} d ${Math.floor(ms / hour) % 24} h`
}
