/** Reads the skills, commands and subagents that an agent can be told to use, and finds files to mention. */
import { abilityRoutes } from '#domain/api/abilities.ts'
import type {
  findProjectFiles,
  listProjectAbilities,
  listTaskAbilities,
} from '#domain/api/abilities.schema.ts'
import type { findTaskFiles } from '#domain/api/taskFiles.schema.ts'
import { taskFileRoutes } from '#domain/api/taskFiles.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { AgentName } from '#domain/agents.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'

/** Where a message is written: in an existing task, or for a new one. */
export type WritingPlace =
  | { readonly taskId: string }
  | { readonly projectId: string; readonly branch: string | null }

const fallback = 'Failed to fetch what the repository has for agents'
const withBranch = (branch: string | null) => (branch === null ? {} : { branch })

const abilitiesApi = api.injectEndpoints({
  endpoints: (build) => ({
    abilities: build.query<
      AnswerOf<typeof listTaskAbilities>,
      { readonly place: WritingPlace; readonly agent: AgentName }
    >({
      query: ({ place, agent }) =>
        'taskId' in place
          ? requestOf<typeof listTaskAbilities>(abilityRoutes.listTaskAbilities, {
              params: { taskId: place.taskId },
              query: { agent },
              fallback,
            })
          : requestOf<typeof listProjectAbilities>(abilityRoutes.listProjectAbilities, {
              params: { projectId: place.projectId },
              query: { agent, ...withBranch(place.branch) },
              fallback,
            }),
    }),
    foundFiles: build.query<
      Pick<AnswerOf<typeof findTaskFiles>, 'files'>,
      { readonly place: WritingPlace; readonly search: string }
    >({
      query: ({ place, search }) =>
        'taskId' in place
          ? requestOf<typeof findTaskFiles>(taskFileRoutes.findTaskFiles, {
              params: { taskId: place.taskId },
              query: { search },
              fallback,
            })
          : requestOf<typeof findProjectFiles>(abilityRoutes.findProjectFiles, {
              params: { projectId: place.projectId },
              query: { search, ...withBranch(place.branch) },
              fallback,
            }),
    }),
  }),
})

export const { useAbilitiesQuery, useFoundFilesQuery } = abilitiesApi
