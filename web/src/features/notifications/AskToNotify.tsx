/**
 * Offers desktop notifications after a task was started, until the person answers. The browser asks for its permission only after the person has said
 * yes.
 */
import { Bell } from 'lucide-react'
import { useDispatch, useSelector } from 'react-redux'
import { Button } from '../../ui/form/Button.tsx'
import { texts, useDesktopNotifications } from './useDesktopNotifications.ts'
import { createSlice } from '@reduxjs/toolkit'
import { tasksApi } from '../tasks/tasksApi.ts'
import { rootReducer } from '../../state/rootReducer.ts'

export function AskToNotify() {
  const dispatch = useDispatch()
  const isOffered = useSelector(selectAsking)
  const { desktop, turnOn, turnOff } = useDesktopNotifications()
  if (!isOffered || desktop !== 'unasked') return null
  const answer = (choose: () => void) => () => {
    choose()
    dispatch(answered())
  }
  return (
    <aside
      aria-label={texts.title}
      className="mt-4 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-panel border border-line bg-panel py-2 pr-2 pl-4 text-ui"
    >
      <Bell className="text-muted" />
      <p className="min-w-0 flex-1 basis-60">{texts.ask}</p>
      <span className="flex gap-1">
        <Button kind="ghost" onClick={answer(turnOff)}>
          {texts.no}
        </Button>
        <Button onClick={answer(turnOn)}>{texts.yes}</Button>
      </span>
    </aside>
  )
}

/** Whether to offer desktop notifications now. */
const asking = createSlice({
  name: 'asking',
  initialState: false,
  reducers: { answered: () => false },
  extraReducers: (builder) => builder.addMatcher(tasksApi.endpoints.createTask.matchFulfilled, () => true),
})

const { answered } = asking.actions

declare module '../../state/rootReducer.ts' {
  interface FeatureSlices {
    asking: boolean
  }
}
rootReducer.inject({ reducerPath: 'asking', reducer: asking.reducer })
const selectAsking = (state: { readonly asking?: boolean }) => state.asking ?? false
