/** Reads and changes the MCP servers of a project or of a person. */
import { mcpServerRoutes } from '#domain/api/mcpServers.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type {
  beginOwnMcpSignIn,
  beginProjectMcpSignIn,
  endOwnMcpSignIn,
  endProjectMcpSignIn,
  finishMcpSignIn,
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

export interface ServerOfOwner {
  readonly owner: McpOwner
  readonly serverId: string
}

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
      // The page shows the saved list even before the list is read again.
      onQueryStarted: async ({ owner }, { dispatch, queryFulfilled }) => {
        const answer = await queryFulfilled.catch(() => null)
        if (answer === null) return
        dispatch(
          mcpApi.util.updateQueryData('mcpServers', owner, (list) => {
            list.servers = answer.data.servers
          }),
        )
      },
      invalidatesTags: (_answer, error, { owner }) => (error === undefined ? [tagOf(owner)] : []),
    }),
    testMcpServer: build.mutation<AnswerOf<typeof testOwnMcpServer>, ServerOfOwner>({
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
    beginMcpSignIn: build.mutation<AnswerOf<typeof beginOwnMcpSignIn>, ServerOfOwner>({
      query: ({ owner, serverId }) => {
        const asked = { body: { origin: location.origin }, fallback: faults.notSignedIn }
        return owner === null
          ? requestOf<typeof beginOwnMcpSignIn>(mcpServerRoutes.beginOwnMcpSignIn, {
              params: { serverId },
              ...asked,
            })
          : requestOf<typeof beginProjectMcpSignIn>(mcpServerRoutes.beginProjectMcpSignIn, {
              params: { projectId: owner, serverId },
              ...asked,
            })
      },
    }),
    endMcpSignIn: build.mutation<AnswerOf<typeof endOwnMcpSignIn>, ServerOfOwner>({
      query: ({ owner, serverId }) =>
        owner === null
          ? requestOf<typeof endOwnMcpSignIn>(mcpServerRoutes.endOwnMcpSignIn, {
              params: { serverId },
              fallback: faults.notSignedOut,
            })
          : requestOf<typeof endProjectMcpSignIn>(mcpServerRoutes.endProjectMcpSignIn, {
              params: { projectId: owner, serverId },
              fallback: faults.notSignedOut,
            }),
      invalidatesTags: (_answer, _error, { owner }) => [tagOf(owner)],
    }),
    finishMcpSignIn: build.mutation<AnswerOf<typeof finishMcpSignIn>, string>({
      query: (query) =>
        requestOf<typeof finishMcpSignIn>(mcpServerRoutes.finishMcpSignIn, {
          body: { query },
          fallback: faults.notSignedIn,
        }),
    }),
  }),
})

export const {
  useBeginMcpSignInMutation,
  useEndMcpSignInMutation,
  useFinishMcpSignInMutation,
  useLazyMcpServersQuery,
  useMcpServersQuery,
  useSetMcpServersMutation,
  useTestMcpServerMutation,
} = mcpApi
