/** Reads and changes the MCP servers of a project, or of the person (`null`). */
import { mcpServerRoutes } from '#domain/api/mcpServers.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type {
  getOwnMcpServers,
  getProjectMcpServers,
  setOwnMcpServers,
  setProjectMcpServers,
  testOwnMcpServer,
  testProjectMcpServer,
} from '#domain/api/mcpServers.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { faults } from './texts.ts'

/** The id of a project; `null` means the person's own servers. */
export type McpOwner = string | null

export type McpServerChange = BodyInputOf<typeof setOwnMcpServers>['servers'][number]

type Listed = AnswerOf<typeof getOwnMcpServers> & Partial<AnswerOf<typeof getProjectMcpServers>>

const tagOf = (owner: McpOwner) => ({ type: 'Project', id: `${owner ?? 'own'} MCP servers` }) as const

const mcpApi = api.injectEndpoints({
  endpoints: (build) => ({
    mcpServers: build.query<Listed, McpOwner>({
      query: (owner) =>
        owner === null
          ? requestOf<typeof getOwnMcpServers>(mcpServerRoutes.getOwnMcpServers, {
              fallback: faults.notFetched,
            })
          : requestOf<typeof getProjectMcpServers>(mcpServerRoutes.getProjectMcpServers, {
              params: { projectId: owner },
              fallback: faults.notFetched,
            }),
      providesTags: (_answer, _error, owner) => [tagOf(owner)],
    }),
    setMcpServers: build.mutation<
      AnswerOf<typeof setOwnMcpServers>,
      { readonly owner: McpOwner; readonly servers: McpServerChange[] }
    >({
      query: ({ owner, servers }) =>
        owner === null
          ? requestOf<typeof setOwnMcpServers>(mcpServerRoutes.setOwnMcpServers, {
              body: { servers },
              fallback: faults.notSaved,
            })
          : requestOf<typeof setProjectMcpServers>(mcpServerRoutes.setProjectMcpServers, {
              params: { projectId: owner },
              body: { servers },
              fallback: faults.notSaved,
            }),
      invalidatesTags: (_answer, error, { owner }) => (error === undefined ? [tagOf(owner)] : []),
    }),
    testMcpServer: build.mutation<
      AnswerOf<typeof testOwnMcpServer>,
      { readonly owner: McpOwner; readonly serverId: string }
    >({
      query: ({ owner, serverId }) =>
        owner === null
          ? requestOf<typeof testOwnMcpServer>(mcpServerRoutes.testOwnMcpServer, {
              params: { serverId },
              fallback: faults.notTested,
            })
          : requestOf<typeof testProjectMcpServer>(mcpServerRoutes.testProjectMcpServer, {
              params: { projectId: owner, serverId },
              fallback: faults.notTested,
            }),
    }),
  }),
})

export const { useMcpServersQuery, useSetMcpServersMutation, useTestMcpServerMutation } = mcpApi
