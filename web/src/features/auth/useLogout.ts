/** Logs out in this browser at once, whatever the server answers. */
import { useDispatch, useStore } from 'react-redux'
import { authRoutes } from '#domain/api/auth.ts'
import type { logout } from '#domain/api/auth.schema.ts'
import { requestOf } from '../../api/endpoint.ts'
import { request } from '../../api/request.ts'
import { sessionEnded } from '../../api/session.ts'
import { dropToken, readToken } from '../../api/tokenStore.ts'
import type { WithDeletions } from '../deletions/deletions.ts'
import { sendDeletions } from '../deletions/sendDeletions.ts'
import { texts } from './texts.ts'

const logoutCall = requestOf<typeof logout>(authRoutes.logout, { fallback: texts.logoutFailed })

export function useLogout(): () => void {
  const dispatch = useDispatch()
  const store = useStore<WithDeletions>()
  return () => {
    // Deletions are sent while there is still a token: logging out must not undo them.
    sendDeletions(store)
    const token = readToken()
    dropToken()
    dispatch(sessionEnded('logout'))
    // Not sent through the store, because the store reads the token when it sends a call, and the token is already removed.
    if (token !== null) void request(logoutCall, { token })
  }
}
