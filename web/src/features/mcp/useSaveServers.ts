/** Saves a whole list of MCP servers. */
import { useDispatch } from 'react-redux'
import { notifiedOutcome } from '../notifications/notifications.ts'
import { useSetMcpServersMutation, type McpOwner, type McpServerChange } from './mcpApi.ts'
import { faults, texts } from './texts.ts'

export type SaveServers = ReturnType<typeof useSaveServers>

/** `save` replaces the list of MCP servers, shows the outcome as a notification, and resolves to the error, if any. */
export function useSaveServers(owner: McpOwner) {
  const dispatch = useDispatch()
  const [set, { isLoading }] = useSetMcpServersMutation()
  return {
    busy: isLoading,
    save: async (servers: McpServerChange[]) => {
      const { error } = await set({ owner, servers })
      dispatch(notifiedOutcome(error, texts.saved, faults.notSaved))
      return error
    },
  }
}
