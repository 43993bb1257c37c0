/** Creates a repository at the code host, and imports it. */
import { useRef, useState, type FormEvent } from 'react'
import { useDispatch } from 'react-redux'
import { reasonOf, type ApiFault } from '../../../api/fault.ts'
import { newId } from '../../../api/newId.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Checkbox } from '../../../ui/form/Choice.tsx'
import { Field } from '../../../ui/form/Field.tsx'
import { Panel } from '../../../ui/layout/Panel.tsx'
import { useMeQuery } from '../../auth/authApi.ts'
import { notified, notifiedFailure } from '../../notifications/notifications.ts'
import { useCreateProjectMutation } from '../projectsApi.ts'
import { texts } from '../texts.ts'
import { useCreateRepositoryMutation } from './repositoryApi.ts'
import { useCreatedProject } from './useCreatedProject.ts'

export function NewRepository() {
  const dispatch = useDispatch()
  const onCreated = useCreatedProject()
  const [createRepository, repository] = useCreateRepositoryMutation()
  const [createProject, project] = useCreateProjectMutation()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [isPrivate, setPrivate] = useState(false)
  /** What was last asked for, with the idempotency key that all attempts share: another attempt continues a half-done one. */
  const last = useRef({ wanted: '', key: '' })
  const owner = useMeQuery().data?.user.githubUsername

  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    const named = name.trim()
    if (named === '') {
      dispatch(notified('error', texts.create.nameRequired, texts.create.nameRequiredWhy))
      return
    }
    const body = { name: named, description, private: isPrivate }
    const wanted = JSON.stringify(body)
    if (last.current.wanted !== wanted) last.current = { wanted, key: newId() }
    const { key } = last.current
    const created = await createRepository({ ...body, key })
    if (created.error !== undefined) {
      const [title, message] = refusal(created.error)
      dispatch(notified('error', title, message))
      return
    }
    const answer = await createProject({
      repoUrl: created.data.data.html_url,
      name: named,
      description,
      key,
    })
    if (answer.error !== undefined) {
      dispatch(notifiedFailure(texts.notCreated, answer.error))
      return
    }
    onCreated(answer.data.project, texts.create.repositoryCreated(named), texts.create.repositoryCreatedWhy)
  }

  return (
    <form onSubmit={(event) => void onSubmit(event)}>
      <Panel className="grid gap-4 p-5">
        <Field
          label={texts.create.name}
          help={owner ? texts.create.becomes(owner, nameAtHost(name)) : undefined}
          value={name}
          maxCharacters={100}
          autoCapitalize="off"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label={texts.create.description}
          value={description}
          maxCharacters={350}
          onChange={(event) => setDescription(event.target.value)}
        />
        <Checkbox checked={isPrivate} onChange={setPrivate}>
          {texts.create.makePrivate}
        </Checkbox>
      </Panel>
      <div className="mt-4 flex justify-end py-3">
        <Button
          kind="primary"
          size="touch"
          type="submit"
          busy={repository.isLoading || project.isLoading}
          busyLabel={texts.create.busy}
        >
          {texts.create.submitNew}
        </Button>
      </div>
    </form>
  )
}

/** The name that the code host gives the repository: characters that it does not allow are replaced. */
const nameAtHost = (name: string): string => name.trim().replaceAll(/[^\w.-]+/g, '-')

/** The title and the message when a repository could not be created. */
function refusal(fault: ApiFault | { readonly message?: string | undefined }): readonly [string, string] {
  return 'status' in fault && fault.status === 422
    ? [texts.create.exists, texts.create.existsWhy]
    : [texts.create.repositoryFailed, reasonOf(fault, texts.create.repositoryFailedWhy)]
}
