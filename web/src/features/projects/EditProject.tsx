/** What a project is called and about, to be changed. */
import { type FormEvent, useState } from 'react'
import { useDispatch } from 'react-redux'
import type { Project } from '#domain/api/projects.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { AreaField, Field } from '../../ui/form/Field.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { notified } from '../notifications/notifications.ts'
import { useUpdateProjectMutation } from './projectsApi.ts'
import { texts } from './texts.ts'

interface EditProjectProps {
  readonly project: Project
  readonly open: boolean
  readonly onClose: () => void
}

export function EditProject({ project, open, onClose }: EditProjectProps) {
  const dispatch = useDispatch()
  const [update, { isLoading, error, reset }] = useUpdateProjectMutation()
  const [name, setName] = useState(project.name)
  const [description, setDescription] = useState(project.description)
  const refused = error !== undefined && 'field' in error ? error : undefined

  const leave = () => {
    reset()
    onClose()
  }
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '' || isLoading) return
    const answer = await update({ projectId: project.id, name: name.trim(), description: description.trim() })
    if (answer.error !== undefined) return
    dispatch(notified('success', texts.edit.saved))
    leave()
  }

  const form = `edit-${project.id}`
  return (
    <Dialog
      open={open}
      onClose={leave}
      title={texts.edit.title}
      actions={
        <>
          <Button onClick={leave}>{texts.edit.leave}</Button>
          <Button
            kind="primary"
            type="submit"
            form={form}
            busy={isLoading}
            busyLabel={texts.edit.saving}
            disabled={name.trim() === ''}
          >
            {texts.edit.save}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={(event) => void onSubmit(event)} className="mt-4 grid gap-4 text-text">
        {error !== undefined && (refused?.field ?? null) === null && (
          <Note kind="error">{reasonOf(error, texts.notUpdated)}</Note>
        )}
        <Field
          label={texts.edit.name}
          required
          maxCharacters={200}
          data-safe
          value={name}
          error={refused?.field === 'name' ? refused.message : undefined}
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
    </Dialog>
  )
}
