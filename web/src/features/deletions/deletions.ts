/**
 * The person's recent deletions. Lists leave deleted items out at once, also when they are fetched again. The server is told when the toast
 * is gone, so that a deletion can be undone for a few seconds.
 */
import { createSlice, type PayloadAction } from '@reduxjs/toolkit'
import { useMemo } from 'react'
import { useSelector } from 'react-redux'
import { sessionEnded } from '../../api/session.ts'
import { rootReducer } from '../../state/rootReducer.ts'

export interface Deletion {
  readonly kind: 'task' | 'project'
  readonly id: string
  /** The id of the toast that offers to undo the deletion. */
  readonly noticeId: string
  /** Whether the deletion was sent to the server, so that it cannot be undone. */
  readonly isSent: boolean
}

const initialState: readonly Deletion[] = []

const deletions = createSlice({
  name: 'deletions',
  initialState,
  reducers: {
    deletionBegun: (all, { payload }: PayloadAction<Omit<Deletion, 'isSent'>>) => [
      ...all.filter(({ id }) => id !== payload.id),
      { ...payload, isSent: false },
    ],
    deletionSent: (all, { payload }: PayloadAction<string>) =>
      all.map((deletion) => (deletion.id === payload ? { ...deletion, isSent: true } : deletion)),
    /** The person has undone the deletion, or the server has refused it. */
    deletionEnded: (all, { payload }: PayloadAction<string>) => all.filter(({ id }) => id !== payload),
  },
  extraReducers: (builder) => builder.addCase(sessionEnded, () => []),
})

export const { deletionBegun, deletionSent, deletionEnded } = deletions.actions

declare module '../../state/rootReducer.ts' {
  interface FeatureSlices {
    deletions: readonly Deletion[]
  }
}
rootReducer.inject({ reducerPath: 'deletions', reducer: deletions.reducer })

export interface WithDeletions {
  readonly deletions?: readonly Deletion[]
}
export const selectDeletions = (state: WithDeletions) => state.deletions ?? initialState

/** A list without deleted items; the same array when it has none. */
export function useNotDeleted<Item extends { readonly id: string }>(
  items: readonly Item[] | undefined,
): readonly Item[] | undefined {
  const deleted = useSelector(selectDeletions)
  return useMemo(() => withoutDeleted(items, deleted), [items, deleted])
}

/** Like `useNotDeleted`, outside of a component. */
export function withoutDeleted<Item extends { readonly id: string }>(
  items: readonly Item[] | undefined,
  deleted: readonly Deletion[],
): readonly Item[] | undefined {
  if (deleted.length === 0) return items
  const kept = items?.filter((item) => !deleted.some(({ id }) => id === item.id))
  return kept?.length === items?.length ? items : kept
}

/** Whether the item was deleted in this browser tab. */
export function useIsDeleted(id: string): boolean {
  return useSelector(selectDeletions).some((deletion) => deletion.id === id)
}
