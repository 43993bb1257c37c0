/** Remote calls between processes over core NATS. A request goes to every process that may respond; the first response counts. */
import { createInbox, type Msg, type Subscription } from 'nats'
import type { z } from 'zod'
import { jsonOf } from '../json.ts'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'
import { rpcCalls, type RpcResponse, type RpcRequest, type RpcName, type Rpc } from '../ports/rpc.ts'
import type { Nats } from './natsConnection.ts'

const noResponders = 503

const schemas: {
  readonly [N in RpcName]: {
    readonly request: z.ZodType<RpcRequest<N>>
    readonly response: z.ZodType<RpcResponse<N>>
  }
} = rpcCalls

/** Remote calls on a connection that may be shared: closing the calls leaves the connection open. `namespace` separates products on one server. */
export function natsRpc(options: { nats: Nats; namespace?: string; onFault: ReportFault }): Rpc {
  const { nats, namespace = 'flightdeck', onFault } = options
  const { connection } = nats
  const subscriptions = new Set<Subscription>()
  let isClosed = false
  const subjectOf = (name: RpcName): string => `${namespace}.ask.${name}`

  async function reply(message: Msg, handler: () => Promise<unknown>): Promise<void> {
    try {
      const response = await handler()
      if (response !== undefined && !isClosed) message.respond(Buffer.from(JSON.stringify(response), 'utf8'))
    } catch (fault) {
      onFault(`What was asked at ${message.subject} could not be answered`, fault)
    }
  }

  return {
    handle(name, handler) {
      const subscription = connection.subscribe(subjectOf(name), {
        callback: (refused, message) => {
          if (refused) return onFault(`NATS at ${nats.address} refuses to tell what is asked`, refused)
          const request = parsed(schemas[name].request, message.data)
          if (request === undefined) return onFault(`A question for ${name} is not understood`, undefined)
          void reply(message, () => handler(request))
        },
      })
      subscriptions.add(subscription)
      return () => {
        subscriptions.delete(subscription)
        subscription.unsubscribe()
      }
    },

    call(name, request, timeoutMs) {
      if (isClosed || !nats.isConnected())
        return Promise.reject(new EngineUnavailable(`NATS at ${nats.address}`))
      return new Promise((resolve) => {
        const inbox = createInbox()
        const subscription = connection.subscribe(inbox, {
          callback: (refused, message) => {
            if (refused || message.headers?.code === noResponders) return end(undefined)
            const response = parsed(schemas[name].response, message.data)
            if (response === undefined) onFault(`An answer to ${name} is not understood`, undefined)
            else end(response)
          },
        })
        const late = setTimeout(() => end(undefined), timeoutMs)
        function end(response: RpcResponse<typeof name> | undefined): void {
          clearTimeout(late)
          subscription.unsubscribe()
          resolve(response)
        }
        connection.publish(subjectOf(name), Buffer.from(JSON.stringify(request), 'utf8'), {
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
