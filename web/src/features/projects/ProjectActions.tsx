/** What can be done with a project, at the right of its name. */
import { Ellipsis, Pencil, RefreshCw, Settings, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import type { Project } from '#domain/api/projects.ts'
import { useAction } from '../../actions/ActionsContext.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { Menu, type MenuButtonProps, type MenuItem } from '../../ui/Menu.tsx'
import { Status } from '../../ui/Status.tsx'
import { DeleteQuestion } from '../deletions/DeleteQuestion.tsx'
import { notified, notifiedFailure } from '../notifications/notifications.ts'
import { EditProject } from './EditProject.tsx'
import { useSyncProjectMutation } from './projectsApi.ts'
import { statusOf } from './statusOf.ts'
import { texts } from './texts.ts'

export function ProjectActions({ project }: { readonly project: Project }) {
  const dispatch = useDispatch()
  const navigate = useNavigate()
  const [sync, { isLoading }] = useSyncProjectMutation()
  const [asking, setAsking] = useState<'nothing' | 'edit' | 'delete'>('nothing')
  const settings = `/projects/${project.id}/settings`
  const onSync = async () => {
    const answer = await sync(project.id)
    dispatch(
      answer.error === undefined
        ? notified('success', texts.detail.synced)
        : notifiedFailure(texts.notSynced, answer.error),
    )
  }
  const leave = () => setAsking('nothing')

  useAction('syncProject', () => void onSync(), !isLoading)
  useAction('projectSettings', () => void navigate(settings))
  useAction('editProject', () => setAsking('edit'))
  useAction('deleteProject', () => setAsking('delete'))

  const items: readonly MenuItem[] = [
    { label: texts.edit.title, icon: Pencil, onChoose: () => setAsking('edit') },
    { label: texts.delete.title, icon: Trash2, onChoose: () => setAsking('delete'), danger: true },
  ]
  const menuButton = (props: MenuButtonProps) => (
    <IconButton icon={Ellipsis} label={texts.detail.actions} {...props} />
  )
  return (
    <>
      <Status status={statusOf(project.status)} />
      <ButtonLink to={settings} icon={<Settings />}>
        {texts.detail.settings}
      </ButtonLink>
      <Button
        icon={<RefreshCw />}
        busy={isLoading}
        busyLabel={texts.detail.syncing}
        onClick={() => void onSync()}
      >
        {texts.detail.sync}
      </Button>
      <Menu button={menuButton} items={items} />
      {/* What was written and left is not there when it is opened again. */}
      {asking === 'edit' && <EditProject project={project} open onClose={leave} />}
      <DeleteQuestion
        kind="project"
        id={project.id}
        words={texts.delete}
        open={asking === 'delete'}
        onClose={leave}
      />
    </>
  )
}
