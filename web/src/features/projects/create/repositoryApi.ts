/** Creates a repository at the code host. Separate from `projectsApi.ts`, because only one page makes this call. */
import { projectRoutes } from '#domain/api/projects.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type { createRepository } from '#domain/api/projects.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { texts } from '../texts.ts'

type NewRepository = BodyInputOf<typeof createRepository> & {
  /** The idempotency key: the same for each attempt to create the same repository. */
  readonly key: string
}

export const { useCreateRepositoryMutation } = api.injectEndpoints({
  endpoints: (build) => ({
    createRepository: build.mutation<AnswerOf<typeof createRepository>, NewRepository>({
      query: ({ key, ...body }) =>
        requestOf<typeof createRepository>(projectRoutes.createRepository, {
          key,
          body,
          fallback: texts.create.repositoryFailedWhy,
        }),
      invalidatesTags: ['GitHub'],
    }),
  }),
})
