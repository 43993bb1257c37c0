/** Who is signed in. */
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import type { getMe, User } from '#domain/api/auth.ts'
import type { AnswerOf } from '#domain/api/call.ts'
import { api } from '../../api/api.ts'
import { sessionEnded } from '../../api/session.ts'
import { dropToken } from '../../api/tokenStore.ts'
import { texts } from './texts.ts'

export const authApi = api.injectEndpoints({
  endpoints: (build) => ({
    me: build.query<AnswerOf<typeof getMe>, void>({
      query: () => ({ path: '/auth/me', fallback: texts.notLoaded }),
      providesTags: ['User'],
      onQueryStarted: async (_arg, { dispatch, queryFulfilled }) => {
        const fault = await queryFulfilled.then(
          () => null,
          (reason) => (reason.isUnhandledError ? null : reason.error),
        )
        // A server that refuses the user takes the token with it; one that does not answer may do so later.
        if (fault === null || fault.status === null || fault.status === 401) return
        if (fault.code === 'not_allowed') return
        dropToken()
        dispatch(sessionEnded('lost'))
      },
    }),
  }),
})

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
