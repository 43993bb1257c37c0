/** Some task of the person has another status, open or not: lists follow it. */
import { createAction } from '@reduxjs/toolkit'
import type { TaskStatusChanged } from '#domain/api/socket.schema.ts'

export const taskStatusChanged = createAction<TaskStatusChanged>('live/taskStatusChanged')
