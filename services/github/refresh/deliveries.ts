/** Reads deliveries of the code host from the log. */
import type { DeliveryReceived } from '#domain/webhookDelivery.ts'
import type { RecordedOf } from '#domain/kernel/event.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import type { EventFilter, LogRecord } from '#platform/ports/eventStore.ts'

export const deliveryFilter: EventFilter = { streams: ['delivery-'], types: ['DeliveryReceived'] }

/** Decrypts a delivery; `undefined` for an unreadable one, which is skipped. */
export async function openDelivery(
  { log, logger }: { readonly log: Pick<EventLog, 'open'>; readonly logger: Pick<Logger, 'warn'> },
  stored: LogRecord,
): Promise<RecordedOf<DeliveryReceived> | undefined> {
  try {
    const event = await log.open(stored)
    return event.type === 'DeliveryReceived' ? event : undefined
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    logger.warn({ stream: stored.stream, reason: fault.reason }, 'skipped an unreadable delivery')
    return undefined
  }
}
