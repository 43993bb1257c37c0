/** Reads the audit log in pages, and exports it. */
import { adminRoutes } from '#domain/api/admin.ts'
import type { exportAuditLog, listAuditLog } from '#domain/api/admin.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { texts } from './texts.ts'

/** `from` and `to` are the first and the last day, both included, in UTC. */
export interface AuditFilter {
  readonly person: string | undefined
  readonly task: string | undefined
  readonly from: string | undefined
  readonly to: string | undefined
}

const auditApi = api.injectEndpoints({
  endpoints: (build) => ({
    auditLog: build.infiniteQuery<AnswerOf<typeof listAuditLog>, AuditFilter, string | null>({
      infiniteQueryOptions: {
        initialPageParam: null,
        getNextPageParam: ({ next }) => next ?? undefined,
      },
      query: ({ queryArg, pageParam }) =>
        requestOf<typeof listAuditLog>(adminRoutes.listAuditLog, {
          query: { ...queryArg, after: pageParam ?? undefined },
          fallback: texts.fetchFailed,
        }),
      // Entries are discarded when the page is left, so that a return reads only the newest ones: the server records each read.
      keepUnusedDataFor: 0,
    }),
  }),
})
export const { useAuditLogInfiniteQuery } = auditApi

export const exportOf = (filter: AuditFilter) =>
  requestOf<typeof exportAuditLog>(adminRoutes.exportAuditLog, {
    query: { ...filter },
    fallback: texts.exportFailed,
  })
