/** Remote calls between processes over core NATS. A request goes to every process that may answer; the first response counts. */
import { createInbox, type Msg, type Subscription } from 'nats'
import type { z } from 'zod'
import { jsonOf } from '../json.ts'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'
import { questions, type Answered, type Asked, type Question, type Rpc } from '../ports/rpc.ts'
import type { Nats } from './natsConnection.ts'

const noResponders = 503

const schemas: {
  readonly [Q in Question]: { readonly request: z.ZodType<Asked<Q>>; readonly answer: z.ZodType<Answered<Q>> }
} = questions

/** Remote calls on a connection that may be shared; closing them leaves it open. `namespace` separates products on one server. */
export function natsRpc(options: { nats: Nats; namespace?: string; onFault: ReportFault }): Rpc {
  const { nats, namespace = 'flightdeck', onFault } = options
  const { connection } = nats
  const subscriptions = new Set<Subscription>()
  let isClosed = false
  const subjectOf = (question: Question): string => `${namespace}.ask.${question}`

  async function reply(message: Msg, know: () => Promise<unknown>): Promise<void> {
    try {
      const answer = await know()
      if (answer !== undefined && !isClosed) message.respond(Buffer.from(JSON.stringify(answer), 'utf8'))
    } catch (fault) {
      onFault(`What was asked at ${message.subject} could not be answered`, fault)
    }
  }

  return {
    answer(question, know) {
      const subscription = connection.subscribe(subjectOf(question), {
        callback: (refused, message) => {
          if (refused) return onFault(`NATS at ${nats.address} refuses to tell what is asked`, refused)
          const request = parsed(schemas[question].request, message.data)
          if (request === undefined) return onFault(`A question for ${question} is not understood`, undefined)
          void reply(message, () => know(request))
        },
      })
      subscriptions.add(subscription)
      return () => {
        subscriptions.delete(subscription)
        subscription.unsubscribe()
      }
    },

    ask(question, request, timeoutMs) {
      if (isClosed || !nats.isConnected())
        return Promise.reject(new EngineUnavailable(`NATS at ${nats.address}`))
      return new Promise((resolve) => {
        const inbox = createInbox()
        const subscription = connection.subscribe(inbox, {
          callback: (refused, message) => {
            if (refused || message.headers?.code === noResponders) return end(undefined)
            const answer = parsed(schemas[question].answer, message.data)
            if (answer === undefined) onFault(`An answer to ${question} is not understood`, undefined)
            else end(answer)
          },
        })
        const late = setTimeout(() => end(undefined), timeoutMs)
        function end(answer: Answered<typeof question> | undefined): void {
          clearTimeout(late)
          subscription.unsubscribe()
          resolve(answer)
        }
        connection.publish(subjectOf(question), Buffer.from(JSON.stringify(request), 'utf8'), {
          reply: inbox,
        })
      })
    },

    ready: () => nats.ready(),
    close: async () => {
      isClosed = true
      for (const subscription of subscriptions) subscription.unsubscribe()
      subscriptions.clear()
    },
  }
}

function parsed<T>(schema: z.ZodType<T>, data: Uint8Array): T | undefined {
  return schema.safeParse(jsonOf(data)).data
}
