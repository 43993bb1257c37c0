/** A request to create a repository, which clients may repeat with the same `Idempotency-Key`: its acceptance, and the created repository. */
import { z } from 'zod'
import { event, fact, type EventOf } from './kernel/event.schema.ts'
import { UserId } from './kernel/ids.schema.ts'
import type { Decider, Decision } from './kernel/decider.ts'
import { refuse } from './kernel/errors.ts'
import type { RecordedOf } from './kernel/event.ts'

/** The request was accepted. `digest` is a keyed hash of its body, to detect another request with the same key but a different body. */
export const RequestAccepted = fact('RequestAccepted', {
  userId: UserId,
  digest: z.string().regex(/^[0-9a-f]{64}$/),
})
/** The code host created the repository for which the request asked. */
export const RepositoryMade = event('RepositoryMade', 1, {
  data: z.object({ isPrivate: z.boolean() }),
  content: z.object({
    githubRepoId: z.string(),
    name: z.string(),
    fullName: z.string(),
    description: z.string().nullable(),
    htmlUrl: z.string(),
  }),
})

export const requestEvents = [RequestAccepted, RepositoryMade] as const
export type RequestEvent = EventOf<(typeof requestEvents)[number]>
export type MadeRepository = EventOf<typeof RepositoryMade>

export type RequestState =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'accepted'
      readonly digest: string
      /** When the request was accepted, in the format of ISO 8601. */
      readonly at: string
      /** The created repository; `null` until the code host has confirmed its creation. */
      readonly made: RecordedOf<MadeRepository> | null
    }

export type RequestCommand =
  | { readonly type: 'AcceptRequest'; readonly userId: string; readonly digest: string }
  | { readonly type: 'RecordRepository'; readonly repository: MadeRepository }

function decide(command: RequestCommand, state: RequestState): Decision<RequestEvent> {
  switch (command.type) {
    case 'AcceptRequest':
      if (state.kind === 'none')
        return [RequestAccepted.of({ userId: command.userId, digest: command.digest })]
      return state.digest === command.digest ? [] : refuse('key_reused', undefined, 'Idempotency-Key')
    case 'RecordRepository':
      if (state.kind === 'none') return refuse('not_found')
      return state.made === null
        ? [RepositoryMade.of(command.repository.data, command.repository.content)]
        : []
  }
}

function evolve(state: RequestState, event: RecordedOf<RequestEvent>): RequestState {
  switch (event.type) {
    case 'RequestAccepted':
      return { kind: 'accepted', digest: event.data.digest, at: event.at, made: null }
    case 'RepositoryMade':
      return state.kind === 'none' ? state : { ...state, made: event }
  }
}

export const request: Decider<RequestState, RequestCommand, RequestEvent> = {
  initial: { kind: 'none' },
  decide,
  evolve,
}
