/** A task in the making: what is to be done, where, and by whom. The draft outlives the page. */
import { FolderGit2, GitBranch, ImagePlus } from 'lucide-react'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import { isAgentName } from '#domain/agents.ts'
import { limits } from '#domain/api/limits.ts'
import { titleOf } from '#domain/api/tasks.ts'
import { Keys } from '../../actions/Keys.tsx'
import { ariaKeys, isMac } from '../../actions/keys.ts'
import { reasonOf } from '../../api/fault.ts'
import { readToken } from '../../api/tokenStore.ts'
import { newId } from '../../api/newId.ts'
import {
  draftDescription,
  selectedAgent,
  selectedModel,
  selectedProjectId,
  usePersisted,
} from '../../state/persisted.ts'
import { AgentMark } from '../../ui/AgentMark.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { TextArea } from '../../ui/form/TextArea.tsx'
import { useSlashCommands } from '../agents/useSlashCommands.tsx'
import { ModelPicker } from '../agents/ModelPicker.tsx'
import { texts as agentTexts } from '../agents/texts.ts'
import { useAgentOptions } from '../agents/useAgentOptions.tsx'
import { AttachButton } from '../images/AttachButton.tsx'
import { imagesAtMost } from '../images/acceptFiles.ts'
import { DropHint, useImageDrop } from '../images/useImageDrop.tsx'
import { PendingTray } from '../images/PendingTray.tsx'
import { texts as imageTexts } from '../images/texts.ts'
import { usePendingImages } from '../images/usePendingImages.ts'
import { useWhenUploaded } from '../images/useWhenUploaded.ts'
import { notified, notifiedFailure } from '../notifications/notifications.ts'
import { useProjectsQuery } from '../projects/projectsApi.ts'
import { useCreateTaskMutation } from '../tasks/tasksApi.ts'
import { appendWords } from '../voice/appendWords.ts'
import { useVoice } from '../voice/useVoice.ts'
import { VoiceButton } from '../voice/VoiceButton.tsx'
import { projectOptions } from './projectOptions.ts'
import { texts } from './texts.ts'
import { useBranchChoice } from './useBranchChoice.ts'
import { usePrewarm } from './usePrewarm.ts'

const startKey = 'mod+enter'

export function Composer() {
  const dispatch = useDispatch()
  const navigate = useNavigate()
  const { data, error: projectsError, refetch, isFetching } = useProjectsQuery()
  const [description, setDescription] = usePersisted(draftDescription)
  // What is spoken is added to the latest words, also where several pieces come before the next drawing.
  const latest = useRef(description)
  // A suggested task, or one written in another part of the page, comes in this way.
  useEffect(() => {
    latest.current = description
  }, [description])
  const write = (next: string) => {
    latest.current = next
    setDescription(next)
  }
  const voice = useVoice((words) => {
    // Whoever has logged out has taken their draft along.
    if (readToken() !== null) write(appendWords(latest.current, words))
  })
  const images = usePendingImages(imagesAtMost.compact)
  const drop = useImageDrop(images.add)
  const [projectId, setProjectId] = usePersisted(selectedProjectId)
  const [agent, setAgent] = usePersisted(selectedAgent)
  const agentOptions = useAgentOptions()
  const slash = useSlashCommands({ agent, text: description, onWrite: write, begins: true })
  const [codexModel, setModel] = usePersisted(selectedModel)
  const chooseAgent = (chosen: typeof agent) => {
    // The models of one agent are not those of another.
    if (chosen !== agent) setModel(selectedModel.initial)
    setAgent(chosen)
  }
  const [attempted, setAttempted] = useState(false)
  const [create, { isLoading }] = useCreateTaskMutation()

  const options = useMemo(() => projectOptions(data?.projects ?? []), [data?.projects])
  const projects = data?.projects ?? []
  // Of one there is nothing to choose.
  const project =
    projects.find(({ id }) => id === projectId) ?? (projects.length === 1 ? projects[0] : undefined)
  const branch = useBranchChoice(project)
  // One id until the server has the task: sending again after a lost answer makes no second one.
  const [taskId, setTaskId] = useState(newId)

  const missing =
    description.trim() === ''
      ? texts.missing.description
      : project === undefined
        ? texts.missing.project
        : branch.chosen === null
          ? texts.missing.branch
          : null

  usePrewarm(
    isLoading || missing !== null || project === undefined || branch.chosen === null
      ? null
      : { taskId, projectId: project.id, branch: branch.chosen, codexModel, agent },
  )

  const start = async () => {
    if (isLoading || missing !== null || project === undefined || branch.chosen === null) return
    voice.end()
    const words = latest.current.trim()
    const answer = await create({
      id: taskId,
      title: titleOf(words),
      description: words,
      projectId: project.id,
      branch: branch.chosen,
      codexModel,
      images: images.completed().map(({ id }) => id),
      agent,
    })
    if (answer.error !== undefined) {
      dispatch(notifiedFailure(texts.notCreated, answer.error))
      return
    }
    setTaskId(newId())
    write('')
    images.clear()
    setAttempted(false)
    dispatch(notified('success', texts.created, texts.createdWhy))
  }

  const whenUploaded = useWhenUploaded(images, () => void start())
  const onSubmit = (event?: FormEvent) => {
    event?.preventDefault()
    if (isLoading || whenUploaded.waiting) return
    setAttempted(true)
    if (missing === null) whenUploaded.ask()
  }

  return (
    <>
      {projectsError !== undefined && (
        <Note
          kind="error"
          className="mb-3"
          action={
            <Button size="small" busy={isFetching} onClick={() => void refetch()}>
              {texts.tryAgain}
            </Button>
          }
        >
          {texts.projectsNotFetched(reasonOf(projectsError, 'Failed to fetch projects'))}
        </Note>
      )}
      <form
        {...drop.handlers}
        onSubmit={onSubmit}
        className="relative rounded-panel border border-control bg-panel focus-within:border-accent focus-within:ring focus-within:ring-accent"
      >
        {slash.list}
        <TextArea
          {...slash.field}
          label={texts.description}
          placeholder={texts.placeholder}
          minHeight={96}
          maxHeight={320}
          maxLength={limits.descriptionLength}
          value={description}
          interim={appendWords(description, voice.interim).slice(description.length)}
          onChange={(event) => write(event.target.value)}
          onFocus={() => slash.setFocused(true)}
          onBlur={() => slash.setFocused(false)}
          onKeyDown={(event) => {
            if (slash.take(event)) return
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit()
          }}
          className="px-4 pt-3.5 pb-2 text-input md:text-[15px]/6"
        />
        <PendingTray
          pending={images}
          said={whenUploaded.waiting ? imageTexts.waiting : whenUploaded.stopped ? imageTexts.stopped : null}
        />
        <div className="flex flex-wrap items-center gap-1.5 p-2">
          <Picker
            label={texts.project}
            placeholder={texts.noProject}
            icon={<FolderGit2 className="size-3.5" />}
            options={options}
            chosen={project?.id ?? null}
            onChoose={setProjectId}
            filterLabel={texts.filterProjects}
            emptyText={data?.projects.length === 0 ? texts.noProjectsYet : texts.noProjects}
            action={{ label: texts.manage, onChoose: () => void navigate('/projects') }}
          />
          <Picker
            label={texts.branch}
            placeholder={branch.loading ? texts.loadingBranches : texts.noBranch}
            icon={<GitBranch className="size-3.5" />}
            options={branch.options}
            chosen={branch.chosen}
            onChoose={branch.onChoose}
            mono
            note={branch.toBeMade ? texts.mainToBeNote : undefined}
            filterLabel={texts.filterBranches}
            emptyText={texts.noBranches}
            disabled={project === undefined || branch.loading}
          />
          <Picker
            label={texts.agent}
            placeholder={agent}
            icon={<AgentMark agent={agent} bare />}
            options={agentOptions}
            chosen={agent}
            onChoose={(value) => {
              if (isAgentName(value)) chooseAgent(value)
            }}
            filterLabel={agentTexts.filter}
            emptyText={agentTexts.none}
          />
          <ModelPicker
            agent={agent}
            model={codexModel}
            onChoose={(model) => setModel(model ?? selectedModel.initial)}
          />
          <span className="ml-auto flex items-center gap-1.5">
            <AttachButton images={images} icon={ImagePlus} />
            <VoiceButton voice={voice} />
            <span aria-hidden="true" className="mx-1 hidden wide:inline-flex">
              <Keys written={startKey} />
            </span>
            <Button
              kind="primary"
              size="touch"
              type="submit"
              aria-keyshortcuts={ariaKeys(startKey, isMac())}
              disabled={missing !== null}
              busy={isLoading || whenUploaded.waiting}
              busyLabel={texts.creating}
            >
              {texts.start}
            </Button>
          </span>
        </div>
        {drop.over && <DropHint most={images.most} />}
      </form>
      {attempted && missing !== null && (
        <Note kind="error" className="mt-3">
          {missing}
        </Note>
      )}
      {branch.error !== undefined && (
        <Note kind="error" className="mt-3">
          {branch.error}
        </Note>
      )}
    </>
  )
}
