/** The actions of a project, at the right of its name. */
import { Ellipsis, Pencil, Plus, RefreshCw, Settings, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import type { Project } from '#domain/api/projects.schema.ts'
import { useAction } from '../../actions/ActionsContext.tsx'
import { Button, ButtonLink, buttonStyle } from '../../ui/form/Button.tsx'
import { classes } from '../../ui/classes.ts'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { Menu, type MenuButtonProps, type MenuItem } from '../../ui/overlay/Menu.tsx'
import { DeleteQuestion } from '../deletions/DeleteQuestion.tsx'
import { notifiedOutcome } from '../notifications/notifications.ts'
import { EditProject } from './EditProject.tsx'
import { NewTaskLink } from './NewTaskLink.tsx'
import { useSyncProjectMutation } from './projectsApi.ts'
import { texts } from './texts.ts'

const menuButton = (props: MenuButtonProps) => (
  <IconButton icon={Ellipsis} label={texts.detail.actions} {...props} />
)

export function ProjectActions({ project }: { readonly project: Project }) {
  const dispatch = useDispatch()
  const navigate = useNavigate()
  const [sync, { isLoading }] = useSyncProjectMutation()
  const [dialog, setDialog] = useState<'nothing' | 'edit' | 'delete'>('nothing')
  const settings = `/projects/${project.id}/settings`
  const onSync = async () => {
    const { error } = await sync(project.id)
    dispatch(notifiedOutcome(error, texts.detail.synced, texts.notSynced))
  }
  const leave = () => setDialog('nothing')

  useAction('syncProject', () => void onSync(), !isLoading)
  useAction('projectSettings', () => void navigate(settings))
  useAction('editProject', () => setDialog('edit'))
  useAction('deleteProject', () => setDialog('delete'))

  const items: readonly MenuItem[] = [
    { label: texts.edit.title, icon: Pencil, onChoose: () => setDialog('edit') },
    { label: texts.delete.title, icon: Trash2, onChoose: () => setDialog('delete'), danger: true },
  ]
  return (
    <>
      <div className="flex w-full items-center gap-2 md:w-auto">
        {project.stats.totalTasks > 0 && (
          <NewTaskLink
            project={project}
            className={classes(buttonStyle('primary', 'touch'), 'max-md:flex-1')}
          >
            <Plus />
            {texts.newTask}
          </NewTaskLink>
        )}
        <ButtonLink to={settings} size="touch" icon={<Settings />}>
          <span className="max-md:sr-only">{texts.detail.settings}</span>
        </ButtonLink>
        <Button
          size="touch"
          icon={<RefreshCw />}
          busy={isLoading}
          busyLabel={<span className="max-md:sr-only">{texts.detail.syncing}</span>}
          onClick={() => void onSync()}
        >
          <span className="max-md:sr-only">{texts.detail.sync}</span>
        </Button>
        <Menu button={menuButton} items={items} />
      </div>
      {/* The dialog is mounted only while it is open, so that it does not show discarded input the next time. */}
      {dialog === 'edit' && <EditProject project={project} onClose={leave} />}
      <DeleteQuestion
        kind="project"
        id={project.id}
        words={texts.delete}
        open={dialog === 'delete'}
        onClose={leave}
      />
    </>
  )
}
