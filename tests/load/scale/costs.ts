/** What a turn, an event, a viewer and a waiting agent cost. The script `scale.ts` measures it, and the model in `demand.ts` starts from it. */
import { z } from 'zod'

const ofServices = z.object({
  command: z.number(),
  query: z.number(),
  gateway: z.number(),
  runner: z.number(),
})

export const Costs = z.object({
  /** The machine and the day on which this was measured. */
  machine: z.string(),
  day: z.string(),
  /** A turn that changes a file, from the person's words to its end, answered by the scripted model. */
  turn: z.object({
    events: z.number(),
    /** Processor time of the services, in milliseconds. */
    processor: ofServices,
    /** Processor time of the agent's program and of its sandbox, in milliseconds. */
    agentProcessor: z.number(),
    natsMessages: z.number(),
    logBytes: z.number(),
    documentBytes: z.number(),
    /** Diffs, snapshots, keys and all else that is neither the log nor documents. */
    otherBytes: z.number(),
    /** A small workspace and its share of the mirror on the disk of the runner. */
    workspaceBytes: z.number(),
  }),
  /** A line that a program prints, ten a second for each run: one event. */
  event: z.object({
    processor: ofServices,
    natsMessages: z.number(),
    logBytes: z.number(),
    documentBytes: z.number(),
    /** Processor time of a gateway that has no viewer of the task, in milliseconds. */
    followingProcessor: z.number(),
    /** Processor time of any process that only hears of the event, in milliseconds. */
    hearingProcessor: z.number(),
  }),
  viewer: z.object({
    /** Of the gateway, in MB of 10^6 bytes. */
    memory: z.number(),
    /** Of the gateway for each message to a viewer, in milliseconds. */
    messageProcessor: z.number(),
  }),
  /** An agent that waits in its sandbox, with all of its processes, in MB of 10^6 bytes. */
  agent: z.object({ memory: z.number() }),
  /** Processor time of any process that hears the heartbeat of a runner, in milliseconds. */
  heartbeatProcessor: z.number(),
  /** A process of each service at rest, in MB of 10^6 bytes. */
  atRest: z.object({
    memory: ofServices,
    /** NATS messages a second that one runner and one of each other process send. */
    natsMessages: z.number(),
  }),
})
export type Costs = z.output<typeof Costs>
