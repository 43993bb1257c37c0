/** What follows when a project was made: it is the chosen one, a word of success, and back to where tasks begin. */
import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import type { Project } from '#domain/api/projects.schema.ts'
import { remember, selectedProjectId } from '../../../state/persisted.ts'
import { notified } from '../../notifications/notifications.ts'

export function useCreatedProject() {
  const dispatch = useDispatch()
  const navigate = useNavigate()
  return (project: Project, title: string, message: string) => {
    remember(selectedProjectId, project.id)
    dispatch(notified('success', title, message))
    void navigate('/')
  }
}
