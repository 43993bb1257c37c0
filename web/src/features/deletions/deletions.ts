/**
 * What a person has deleted: left out of every list at once, and told to the server when its toast is gone, so that for a
 * few seconds it can be taken back. It lies over what was loaded: a list that is read again meanwhile shows it as little.
 */
import { createSlice, type PayloadAction } from '@reduxjs/toolkit'
import { useMemo } from 'react'
import { useSelector } from 'react-redux'
import { sessionEnded } from '../../api/session.ts'
import { rootReducer } from '../../state/rootReducer.ts'

export interface Deletion {
  readonly kind: 'task' | 'project'
  readonly id: string
  /** The toast that offers to undo it. */
  readonly noticeId: string
  /** Whether the server has been told: then it cannot be taken back. */
  readonly asked: boolean
}

const initialState: readonly Deletion[] = []

const deletions = createSlice({
  name: 'deletions',
  initialState,
  reducers: {
    deletionBegun: (all, { payload }: PayloadAction<Omit<Deletion, 'asked'>>) => [
      ...all.filter(({ id }) => id !== payload.id),
      { ...payload, asked: false },
    ],
    deletionAsked: (all, { payload }: PayloadAction<string>) =>
      all.map((deletion) => (deletion.id === payload ? { ...deletion, asked: true } : deletion)),
    /** Taken back by the person, or refused by the server. */
    deletionEnded: (all, { payload }: PayloadAction<string>) => all.filter(({ id }) => id !== payload),
  },
  extraReducers: (builder) => builder.addCase(sessionEnded, () => []),
})

export const { deletionBegun, deletionAsked, deletionEnded } = deletions.actions
export const deletionsReducer = deletions.reducer

declare module '../../state/rootReducer.ts' {
  interface FeatureSlices {
    deletions: readonly Deletion[]
  }
}
rootReducer.inject({ reducerPath: 'deletions', reducer: deletionsReducer })

export interface WithDeletions {
  readonly deletions?: readonly Deletion[]
}
export const selectDeletions = (state: WithDeletions) => state.deletions ?? initialState

/** A list without what was deleted; the same array when nothing was. */
export function useNotDeleted<Item extends { readonly id: string }>(
  items: readonly Item[] | undefined,
): readonly Item[] | undefined {
  const deleted = useSelector(selectDeletions)
  return useMemo(() => withoutDeleted(items, deleted), [items, deleted])
}

/** The same, outside of a component. */
export function withoutDeleted<Item extends { readonly id: string }>(
  items: readonly Item[] | undefined,
  deleted: readonly Deletion[],
): readonly Item[] | undefined {
  if (deleted.length === 0) return items
  const kept = items?.filter((item) => !deleted.some(({ id }) => id === item.id))
  return kept?.length === items?.length ? items : kept
}

/** Whether it was deleted on this page. */
export function useIsDeleted(id: string): boolean {
  return useSelector(selectDeletions).some((deletion) => deletion.id === id)
}
