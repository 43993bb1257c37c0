/** Saves a whole list of MCP servers. */
import { useState } from 'react'
import { useDispatch } from 'react-redux'
import type { ShownMcpServer } from '#domain/api/mcpServers.schema.ts'
import { notifiedOutcome } from '../notifications/notifications.ts'
import {
  useLazyMcpServersQuery,
  useSetMcpServersMutation,
  type McpOwner,
  type McpServerChange,
} from './mcpApi.ts'
import { faults, texts } from './texts.ts'

export type SaveServers = ReturnType<typeof useSaveServers>

/** Makes the list to save from the newest list. */
type ChangeServers = (servers: readonly ShownMcpServer[]) => McpServerChange[]

/** `save` changes the list of MCP servers, shows the outcome as a notification, and resolves to the error, if any. */
export function useSaveServers(owner: McpOwner) {
  const dispatch = useDispatch()
  const [read] = useLazyMcpServersQuery()
  const [set] = useSetMcpServersMutation()
  const [busy, setBusy] = useState(false)
  const saved = async (change: ChangeServers) => {
    // Another tab may have changed the list since this page read it.
    const { data, error } = await read(owner)
    if (error !== undefined || data === undefined) return error
    return (await set({ owner, servers: change(data.servers) })).error
  }
  return {
    busy,
    save: async (change: ChangeServers) => {
      setBusy(true)
      const error = await saved(change)
      setBusy(false)
      dispatch(notifiedOutcome(error, texts.saved, faults.notSaved))
      return error
    },
  }
}
