/** Remote calls within a single process. */
import type { ReportFault } from '../ports/faults.ts'
import type { Answered, Asked, Question, Rpc } from '../ports/rpc.ts'

type Knowing = { readonly [Q in Question]: Set<(request: Asked<Q>) => Promise<Answered<Q> | undefined>> }

export function openInProcessRpc({ onFault }: { onFault: ReportFault }): Rpc {
  const knowing: Knowing = {
    changes: new Set(),
    lines: new Set(),
    undoPreview: new Set(),
    origins: new Set(),
    removeWorkspace: new Set(),
    prepare: new Set(),
    hosts: new Set(),
    repository: new Set(),
    abilities: new Set(),
    files: new Set(),
    mcpSuggestions: new Set(),
    mcpTools: new Set(),
    seal: new Set(),
  }

  return {
    answer(question, know) {
      // Wrapped in a new function, so that one function can be registered twice.
      const one = (request: Asked<typeof question>) => know(request)
      knowing[question].add(one)
      return () => void knowing[question].delete(one)
    },
    ask(question, request, timeoutMs) {
      return new Promise((resolve) => {
        const late = setTimeout(resolve, timeoutMs, undefined)
        const all = [...knowing[question]].map(async (know) => {
          try {
            const answer = await know(request)
            if (answer !== undefined) resolve(answer)
          } catch (fault) {
            onFault(`The question ${question} could not be answered`, fault)
          }
        })
        void Promise.all(all)
          .finally(() => clearTimeout(late))
          .then(() => resolve(undefined))
      })
    },
    ready: async () => {},
    close: async () => {
      for (const one of Object.values(knowing)) one.clear()
    },
  }
}
