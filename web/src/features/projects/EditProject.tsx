/** A dialog to change the name and the description of a project. */
import { type FormEvent, useState } from 'react'
import { useDispatch } from 'react-redux'
import type { Project } from '#domain/api/projects.schema.ts'
import { messageFor, reasonOf } from '../../api/fault.ts'
import { AreaField, Field } from '../../ui/form/Field.tsx'
import { ConfirmDialog } from '../../ui/overlay/ConfirmDialog.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { notified } from '../notifications/notifications.ts'
import { useUpdateProjectMutation } from './projectsApi.ts'
import { texts } from './texts.ts'

interface EditProjectProps {
  readonly project: Project
  readonly onClose: () => void
}

export function EditProject({ project, onClose }: EditProjectProps) {
  const dispatch = useDispatch()
  const [update, { isLoading, error }] = useUpdateProjectMutation()
  const [name, setName] = useState(project.name)
  const [description, setDescription] = useState(project.description)
  const isOfInput = error !== undefined && 'field' in error && error.field !== null
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '' || isLoading) return
    const answer = await update({ projectId: project.id, name: name.trim(), description: description.trim() })
    if (answer.error !== undefined) return
    dispatch(notified('success', texts.edit.saved))
    onClose()
  }

  const form = `edit-${project.id}`
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={texts.edit.title}
      leave={texts.edit.leave}
      confirm={texts.edit.save}
      onConfirm={{ form }}
      busy={isLoading}
      busyLabel={texts.edit.saving}
      disabled={name.trim() === ''}
    >
      <form id={form} onSubmit={(event) => void onSubmit(event)} className="mt-4 grid gap-4 text-text">
        {error !== undefined && !isOfInput && <Note kind="error">{reasonOf(error, texts.notUpdated)}</Note>}
        <Field
          label={texts.edit.name}
          required
          maxCharacters={200}
          data-safe
          value={name}
          error={messageFor(error, 'name')}
          onChange={(event) => setName(event.target.value)}
        />
        <AreaField
          label={texts.edit.description}
          minHeight={72}
          maxHeight={240}
          maxCharacters={2_000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </form>
    </ConfirmDialog>
  )
}
