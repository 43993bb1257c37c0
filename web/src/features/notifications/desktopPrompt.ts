/** Whether it is time to ask about notifications of the desktop: after a task was begun, and never out of the blue. */
import { createSlice } from '@reduxjs/toolkit'
import { tasksApi } from '../tasks/tasksApi.ts'
import { rootReducer } from '../../state/rootReducer.ts'

const asking = createSlice({
  name: 'asking',
  initialState: false,
  reducers: { asked: () => false },
  extraReducers: (builder) => builder.addMatcher(tasksApi.endpoints.createTask.matchFulfilled, () => true),
})

export const { asked } = asking.actions
export const askingReducer = asking.reducer

declare module '../../state/rootReducer.ts' {
  interface FeatureSlices {
    asking: boolean
  }
}
rootReducer.inject({ reducerPath: 'asking', reducer: askingReducer })
export const selectAsking = (state: { readonly asking?: boolean }) => state.asking ?? false
