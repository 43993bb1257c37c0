/** After the creation of a project: chooses it for new tasks, shows the success, and goes to the dashboard. */
import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import type { Project } from '#domain/api/projects.schema.ts'
import { remember, selectedProjectId } from '../../../state/persisted.ts'
import { notified } from '../../notifications/notifications.ts'
import { texts } from '../texts.ts'

export function useCreatedProject() {
  const dispatch = useDispatch()
  const navigate = useNavigate()
  return (
    project: Project,
    title = texts.create.created(project.name),
    message: string = texts.create.createdWhy,
  ) => {
    remember(selectedProjectId, project.id)
    dispatch(notified('success', title, message))
    void navigate('/')
  }
}
