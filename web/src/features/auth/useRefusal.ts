/** Why this browser's last sign-in was refused, in the server's words; `null` while it is not known. */
import { useEffect, useState } from 'react'
import { authRoutes } from '#domain/api/auth.ts'
import type { getRefusal } from '#domain/api/auth.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { requestOf } from '../../api/endpoint.ts'
import { newId } from '../../api/newId.ts'
import { request } from '../../api/request.ts'
import { signInError } from './texts.ts'

export function useRefusal(isRefused: boolean): string | null {
  const [sentence, setSentence] = useState<string | null>(null)
  useEffect(() => {
    if (!isRefused) return
    const leaving = new AbortController()
    void (async () => {
      const asked = await request(
        requestOf<typeof getRefusal>(authRoutes.getRefusal, { fallback: signInError('not_allowed') }),
        { fetch: (...args) => fetch(...args), token: null, signal: leaving.signal, newId },
      )
      if (leaving.signal.aborted || 'error' in asked) return
      if (isRefusal(asked.data)) setSentence(asked.data.sentence)
    })()
    return () => leaving.abort()
  }, [isRefused])
  return isRefused ? sentence : null
}

function isRefusal(answer: unknown): answer is AnswerOf<typeof getRefusal> {
  return typeof answer === 'object' && answer !== null && 'sentence' in answer
}
