/** Remote calls within a single process. */
import type { ReportFault } from '../ports/faults.ts'
import type { RpcResponse, RpcRequest, RpcName, Rpc } from '../ports/rpc.ts'

type Handlers = {
  readonly [N in RpcName]: Set<(request: RpcRequest<N>) => Promise<RpcResponse<N> | undefined>>
}

export function openInProcessRpc({ onFault }: { onFault: ReportFault }): Rpc {
  const handlers: Handlers = {
    changes: new Set(),
    lines: new Set(),
    undoPreview: new Set(),
    origins: new Set(),
    removeWorkspace: new Set(),
    prepare: new Set(),
    rebuildEnvironment: new Set(),
    hosts: new Set(),
    repository: new Set(),
    abilities: new Set(),
    files: new Set(),
    taskFiles: new Set(),
    mcpSuggestions: new Set(),
    mcpTools: new Set(),
    openShell: new Set(),
    useShell: new Set(),
    repositoryChanged: new Set(),
    seal: new Set(),
  }

  return {
    handle(name, handler) {
      // The handler is wrapped in a new function, so that one handler can be registered twice.
      const wrapped = (request: RpcRequest<typeof name>) => handler(request)
      handlers[name].add(wrapped)
      return () => void handlers[name].delete(wrapped)
    },
    call(name, request, timeoutMs) {
      return new Promise((resolve) => {
        const late = setTimeout(resolve, timeoutMs, undefined)
        const all = [...handlers[name]].map(async (handler) => {
          try {
            const response = await handler(request)
            if (response !== undefined) resolve(response)
          } catch (fault) {
            onFault(`The question ${name} could not be answered`, fault)
          }
        })
        void Promise.all(all)
          .finally(() => clearTimeout(late))
          .then(() => resolve(undefined))
      })
    },
    ready: async () => {},
    close: async () => {
      for (const wrapped of Object.values(handlers)) wrapped.clear()
    },
  }
}
