/** Reads who is signed in, and why a sign-in was refused. */
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import { authRoutes } from '#domain/api/auth.ts'
import type { getMe, getRefusal, User } from '#domain/api/auth.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import type { ApiFault } from '../../api/fault.ts'
import { openCall } from '../../api/request.ts'
import { sessionEnded } from '../../api/session.ts'
import { dropToken } from '../../api/tokenStore.ts'
import { texts } from './texts.ts'

export const authApi = api.injectEndpoints({
  endpoints: (build) => ({
    me: build.query<AnswerOf<typeof getMe>, void>({
      query: () => requestOf<typeof getMe>(authRoutes.getMe, { fallback: texts.notLoaded }),
      providesTags: ['User'],
      onQueryStarted: async (_arg, { dispatch, queryFulfilled }) => {
        const fault = await queryFulfilled.then(
          () => null,
          (reason) => (reason.isUnhandledError ? null : reason.error),
        )
        if (fault === null || !refusesUser(fault)) return
        dropToken()
        dispatch(sessionEnded('lost'))
      },
    }),
    /** The server's reason for refusing this browser's last sign-in. */
    refusal: build.query<AnswerOf<typeof getRefusal>, void>({
      queryFn: (_none, { signal }) => {
        const call = requestOf<typeof getRefusal>(authRoutes.getRefusal, { fallback: '' })
        return openCall<AnswerOf<typeof getRefusal>>(call, { token: null, signal })
      },
    }),
  }),
})

/** Whether the server refuses the person. A server that is down or busy may accept them later; `baseQuery` handles 401 and `not_allowed`. */
function refusesUser({ status, code }: ApiFault): boolean {
  if (status === null || status >= 500 || code === 'not_allowed') return false
  return ![401, 408, 429].includes(status)
}

export const { useMeQuery, useRefusalQuery } = authApi

/**
 * Stores the user that a write returned. The user is stored like an answer to `me`, because the live connection begins when an answer to `me` says
 * that the onboarding is complete.
 */
export const notifyUser =
  (user: User) =>
  (dispatch: ThunkDispatch<WithApi, unknown, UnknownAction>, getState: () => WithApi): void => {
    const known = authApi.endpoints.me.select()(getState()).data
    dispatch(authApi.util.upsertQueryData('me', undefined, { isAdmin: false, ...known, user }))
  }

type WithApi = Parameters<ReturnType<typeof authApi.endpoints.me.select>>[0]

/** For `onQueryStarted` of a write that returns the user: stores that user. */
export async function storeUser(_body: unknown, { dispatch, queryFulfilled }: UserWrite): Promise<void> {
  const answer = await Promise.resolve(queryFulfilled).catch(() => null)
  if (answer !== null) dispatch(notifyUser(answer.data.user))
}

interface UserWrite {
  readonly dispatch: ThunkDispatch<WithApi, unknown, UnknownAction>
  readonly queryFulfilled: PromiseLike<{ readonly data: { readonly user: User } }>
}
