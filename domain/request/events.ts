/** What happens to a write that a client may send again: one stream a request, named by its command id. */
import { z } from 'zod'
import { event, none, type EventOf } from '../kernel/event.schema.ts'
import { UserId } from '../kernel/ids.schema.ts'

/** The request was taken; `digest` is a keyed hash of its body, by which another body under the same key is told. */
export const RequestAccepted = event('RequestAccepted', 1, {
  data: z.object({ userId: UserId, digest: z.string().regex(/^[0-9a-f]{64}$/) }),
  content: none,
})
/** The code host made the repository that was asked for. */
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
