/** The hooks of react-redux with the types of this store. */
import type { Store, ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import { useDispatch, useStore } from 'react-redux'
import type { RootState } from './rootReducer.ts'

type AppDispatch = ThunkDispatch<RootState, undefined, UnknownAction>

export const useAppDispatch = useDispatch.withTypes<AppDispatch>()
export const useAppStore = useStore.withTypes<Store<RootState> & { dispatch: AppDispatch }>()
