/** Provides the live connection to the pages. */
import { createContext, use, useEffect, type ReactNode } from 'react'
import type { Live } from './live.ts'

const nobody: Live = { begin: () => undefined, enter: () => () => undefined }
const LiveContext = createContext<Live>(nobody)

export function LiveProvider({ live, children }: { readonly live: Live; readonly children: ReactNode }) {
  // In an effect, so that the connection opens after the first render.
  useEffect(() => live.begin(), [live])
  return <LiveContext value={live}>{children}</LiveContext>
}

export function useLive(): Live {
  return use(LiveContext)
}
