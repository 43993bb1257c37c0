/** Tries a key at its provider with one cheap request, before it is stored. */
import * as http from 'node:http'
import * as https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { KeyProvider } from '#domain/agentKeys.ts'
import { LeadsInside, publicLookup } from '#platform/http/addressReach.ts'
import { isPrivateNumeric, keyHeaders, useOf, type StoredKey } from './modelKeys.ts'

/**
 * `refused`: the provider does not know the key. `unknown`: the provider was not reached, or its answer says nothing about the key, for example
 * because a valid key may not list models. `inside`: the address is in the server's own network.
 */
export type KeyCheck = 'accepted' | 'refused' | 'unknown' | 'inside'

const patienceMs = 10_000

/** Checks a key. `address` is where the server reaches the provider, for a key without an address of its own. */
export function checkKey(
  provider: KeyProvider,
  key: StoredKey,
  {
    address,
    withinMs = patienceMs,
    lookup = publicLookup,
  }: {
    readonly address: string
    readonly withinMs?: number
    /** Resolves the host names of addresses that the operator has not configured. */
    readonly lookup?: LookupFunction
  },
): Promise<KeyCheck> {
  const base = key.baseUrl ?? address
  const isGoogle = provider === 'google'
  const url = new URL(`${base.replace(/\/+$/, '')}/${isGoogle ? 'v1beta' : 'v1'}/models`)
  const { request } = url.protocol === 'https:' ? https : http
  const isForeign = key.baseUrl !== null && !isPrivateNumeric(key.baseUrl)
  return new Promise((resolve) => {
    const outgoing = request(url, {
      agent: false,
      headers: {
        ...(provider === 'anthropic' && { 'anthropic-version': '2023-06-01' }),
        ...keyHeaders(provider, key.value, useOf(key)),
      },
      signal: AbortSignal.timeout(withinMs),
      ...(isForeign && { lookup }),
    })
    outgoing.once('response', (answer) => {
      const { statusCode = 0 } = answer
      answer.destroy()
      // Google answers an unknown key with the error for an invalid request.
      const isRefused = statusCode === 401 || (isGoogle && statusCode === 400)
      resolve(isRefused ? 'refused' : statusCode >= 200 && statusCode < 300 ? 'accepted' : 'unknown')
    })
    outgoing.on('error', (fault) => resolve(fault instanceof LeadsInside ? 'inside' : 'unknown'))
    outgoing.end()
  })
}
