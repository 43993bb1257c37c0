/** Saves a whole list of MCP servers. */
import { useDispatch } from 'react-redux'
import { notifiedOutcome } from '../notifications/notifications.ts'
import { useSetMcpServersMutation, type McpOwner, type McpServerChange } from './mcpApi.ts'
import { faults, texts } from './texts.ts'

/** `save` replaces the list of MCP servers, shows the outcome as a notification, and resolves to whether it succeeded. */
export function useSaveServers(owner: McpOwner) {
  const dispatch = useDispatch()
  const [set, { isLoading, error }] = useSetMcpServersMutation()
  return {
    busy: isLoading,
    error,
    save: async (servers: McpServerChange[]) => {
      const answer = await set({ owner, servers })
      dispatch(notifiedOutcome(answer.error, texts.saved, faults.notSaved))
      return answer.error === undefined
    },
  }
}
