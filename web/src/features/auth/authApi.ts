/** Who is signed in. */
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import { authRoutes } from '#domain/api/auth.ts'
import type { getMe, User } from '#domain/api/auth.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import type { ApiFault } from '../../api/fault.ts'
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
  }),
})

/** A server that refuses the user takes the token with it; one that is down or busy may let them in later. A 401 is told of elsewhere. */
function refusesUser({ status, code }: ApiFault): boolean {
  if (status === null || status >= 500 || code === 'not_allowed') return false
  return ![401, 408, 429].includes(status)
}

export const { useMeQuery } = authApi

/**
 * What a write told of the person takes the place of what was read. As an answer and not as a change: the live connection begins at an
 * answer that says the onboarding is complete.
 */
export const userTold =
  (user: User) =>
  (dispatch: ThunkDispatch<WithApi, unknown, UnknownAction>, getState: () => WithApi): void => {
    const known = authApi.endpoints.me.select()(getState()).data
    dispatch(authApi.util.upsertQueryData('me', undefined, { isAdmin: false, ...known, user }))
  }

type WithApi = Parameters<ReturnType<typeof authApi.endpoints.me.select>>[0]
