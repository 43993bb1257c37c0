/** Saves a file from the API: it is fetched with the token, which a link cannot carry, and then handed to the browser. */
import { useState } from 'react'
import { useDispatch } from 'react-redux'
import { signedIn } from './baseQuery.ts'
import type { ApiFault } from './fault.ts'
import { addressOf, answerOf, type ApiCall } from './request.ts'

/** A file of a long history takes minutes, unlike other answers. In milliseconds. */
const downloadTimeoutMs = 600_000

interface Download {
  /** Resolves with the fault, or with `null` once the browser has the file. */
  readonly save: (call: ApiCall, name: string) => Promise<ApiFault | null>
  readonly isSaving: boolean
}

export function useDownload(): Download {
  const dispatch = useDispatch()
  const [isSaving, setSaving] = useState(false)
  const save: Download['save'] = async (call, name) => {
    setSaving(true)
    const answer = await signedIn(call.path, dispatch, (token) => fetchFile(call, token))
    setSaving(false)
    if ('error' in answer) return answer.error
    if (answer.data instanceof Blob) hand(answer.data, name)
    return null
  }
  return { save, isSaving }
}

async function fetchFile(call: ApiCall, token: string) {
  try {
    const response = await fetch(addressOf(call), {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(downloadTimeoutMs),
    })
    if (!response.ok) return answerOf(response.status, await response.text(), call.fallback)
    return { data: await response.blob() }
  } catch {
    return { error: { status: null, code: 'offline', message: call.fallback, field: null } }
  }
}

function hand(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Some browsers read it some time after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
