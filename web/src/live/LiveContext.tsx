/** Gives the pages the live connection. */
import { createContext, use, type ReactNode } from 'react'
import type { Live } from './live.ts'

const nobody: Live = { enter: () => () => undefined }
const LiveContext = createContext<Live>(nobody)

export function LiveProvider({ live, children }: { readonly live: Live; readonly children: ReactNode }) {
  return <LiveContext value={live}>{children}</LiveContext>
}

export function useLive(): Live {
  return use(LiveContext)
}
