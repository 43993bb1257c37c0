/** Tells the other processes who is connected, so that the data which these people look at is kept up to date. */
import type { Bus } from '#platform/ports/bus.ts'
import type { Feed } from './feed.ts'

const announceIntervalMs = 10_000
/** How long a change of the viewers waits before it is announced, in milliseconds: many people who come at once are announced in one message. */
const announceDelayMs = 500
/** The maximum number of people in one message, and the maximum number of tasks. */
const maxInMessage = 1_000

export interface Presence {
  changed(): void
  stop(): void
}

export function announcePresence(feed: Pick<Feed, 'present'>, bus: Pick<Bus, 'publish'>): Presence {
  let soon: NodeJS.Timeout | undefined
  const announce = () => {
    clearTimeout(soon)
    soon = undefined
    const { userIds, taskIds } = feed.present()
    for (let from = 0; from < Math.max(userIds.length, taskIds.length); from += maxInMessage)
      bus.publish('presence', {
        userIds: userIds.slice(from, from + maxInMessage),
        taskIds: taskIds.slice(from, from + maxInMessage),
      })
  }
  const timer = setInterval(announce, announceIntervalMs)
  timer.unref()
  return {
    changed: () => {
      soon ??= setTimeout(announce, announceDelayMs)
    },
    stop: () => {
      clearInterval(timer)
      clearTimeout(soon)
    },
  }
}
