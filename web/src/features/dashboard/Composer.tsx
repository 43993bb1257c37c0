/** The form for a new task: description, project, branch, agent and model. The draft outlives the page. */
import { FolderGit2, GitBranch, ImagePlus } from 'lucide-react'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import { limits } from '#domain/api/limits.ts'
import type { Project } from '#domain/api/projects.schema.ts'
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
import { Button } from '../../ui/form/Button.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { tooLong } from '../../ui/form/lengthLimit.ts'
import { TextArea } from '../../ui/form/TextArea.tsx'
import { AgentPicker } from '../agents/AgentPicker.tsx'
import { useSlashCommands } from '../agents/useSlashCommands.tsx'
import { ModelPicker } from '../agents/ModelPicker.tsx'
import { AttachButton } from '../images/AttachButton.tsx'
import { imagesAtMost } from '../images/acceptFiles.ts'
import { DropHint, useImageDrop } from '../images/useImageDrop.tsx'
import { PendingTray } from '../images/PendingTray.tsx'
import { texts as imageTexts } from '../images/texts.ts'
import { type PendingImages, usePendingImages } from '../images/usePendingImages.ts'
import { useWhenUploaded } from '../images/useWhenUploaded.ts'
import { notified, notifiedFailure } from '../notifications/notifications.ts'
import { useProjectsQuery } from '../projects/projectsApi.ts'
import { useCreateTaskMutation, usePrepareTaskMutation, useRecentTasksQuery } from '../tasks/tasksApi.ts'
import { appendWords } from '../voice/appendWords.ts'
import { useVoice } from '../voice/useVoice.ts'
import { VoiceButton } from '../voice/VoiceButton.tsx'
import { projectOptions } from './projectOptions.ts'
import { texts } from './texts.ts'
import { useBranchChoice } from './useBranchChoice.ts'

const startKey = 'mod+enter'

type NewTask = Parameters<ReturnType<typeof useCreateTaskMutation>[0]>[0]

export function Composer() {
  const navigate = useNavigate()
  const projects = useProjectsQuery()
  const { description, write, latest } = useDescription()
  const voice = useVoice((words) => {
    // Logging out discards the draft: nothing more is added to it.
    if (readToken() !== null) write(appendWords(latest.current, words))
  })
  const images = usePendingImages(imagesAtMost.compact)
  const drop = useImageDrop(images.add)
  const { agent, setAgent, codexModel, setModel } = useAgentAndModel()
  const slash = useSlashCommands({ agent, text: description, onWrite: write, begins: true })
  const { project, options, setProjectId } = useProject(projects.data?.projects)
  const branch = useBranchChoice(project)
  const missing = missingOf(description, project, branch.chosen)
  const start = useStart({
    wanted:
      missing !== null || project === undefined || branch.chosen === null
        ? null
        : { projectId: project.id, branch: branch.chosen, codexModel, agent },
    images,
    take() {
      voice.end()
      return latest.current.trim()
    },
    clear: () => write(''),
  })
  const said = start.waiting ? imageTexts.waiting : start.stopped ? imageTexts.stopped : null

  return (
    <>
      {projects.error !== undefined && <ProjectsFailed projects={projects} />}
      <form
        {...drop.handlers}
        onSubmit={start.submit}
        className="relative rounded-panel border border-control bg-panel focus-within:border-accent focus-within:ring focus-within:ring-accent"
      >
        {slash.list}
        <TextArea
          {...slash.field}
          label={texts.description}
          placeholder={texts.placeholder}
          minHeight={96}
          maxHeight={320}
          maxCharacters={limits.descriptionLength}
          value={description}
          interim={appendWords(description, voice.interim).slice(description.length)}
          onChange={(event) => write(event.target.value)}
          onFocus={() => slash.setFocused(true)}
          onBlur={() => slash.setFocused(false)}
          onKeyDown={(event) => {
            if (slash.take(event)) return
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start.submit()
          }}
          className="px-4 pt-3.5 pb-2 text-input md:text-[15px]/6"
        />
        <PendingTray pending={images} said={said} />
        <div className="flex flex-wrap items-center gap-1.5 p-2">
          <Picker
            label={texts.project}
            placeholder={texts.noProject}
            icon={<FolderGit2 className="size-3.5" />}
            options={options}
            chosen={project?.id ?? null}
            onChoose={setProjectId}
            filterLabel={texts.filterProjects}
            emptyText={projects.data?.projects.length === 0 ? texts.noProjectsYet : texts.noProjects}
            action={{ label: texts.manage, onChoose: () => void navigate('/projects') }}
          />
          <BranchPicker branch={branch} disabled={project === undefined} />
          <AgentPicker label={texts.agent} agent={agent} onChoose={setAgent} />
          <ModelPicker
            agent={agent}
            model={codexModel}
            onChoose={(model) => setModel(model ?? selectedModel.initial)}
          />
          <span className="ml-auto flex items-center gap-1.5">
            <AttachButton images={images} icon={ImagePlus} />
            <VoiceButton voice={voice} />
            <StartButton disabled={missing !== null} busy={start.busy} />
          </span>
        </div>
        {drop.over && <DropHint most={images.most} />}
      </form>
      {/* Once there is a text, what blocks Start is said before anybody presses it. */}
      {missing !== null && (start.attempted || (description.trim() !== '' && !branch.loading)) && (
        <Refusal>{missing}</Refusal>
      )}
      {branch.error !== undefined && <Refusal>{branch.error}</Refusal>}
    </>
  )
}

/** The draft. Speech is added to its latest words, also when several pieces come before the next render. */
function useDescription() {
  const [description, setDescription] = usePersisted(draftDescription)
  const latest = useRef(description)
  // Another part of the page may write it: a suggested task, say.
  useEffect(() => {
    latest.current = description
  }, [description])
  const write = (next: string) => {
    latest.current = next
    setDescription(next)
  }
  return { description, write, latest }
}

function useAgentAndModel() {
  const [agent, chooseAgent] = usePersisted(selectedAgent)
  const [codexModel, setModel] = usePersisted(selectedModel)
  const setAgent = (chosen: typeof agent) => {
    // The models of one agent are not those of another.
    if (chosen !== agent) setModel(selectedModel.initial)
    chooseAgent(chosen)
  }
  return { agent, setAgent, codexModel, setModel }
}

function useProject(listed: readonly Project[] | undefined) {
  const [projectId, setProjectId] = usePersisted(selectedProjectId)
  const options = useMemo(() => projectOptions(listed ?? []), [listed])
  const recent = useRecentTasksQuery()
  const [first, second] = listed ?? []
  // A single project needs no choice, and who has worked goes on where they worked last.
  const latest = second === undefined ? first?.id : recent.data?.tasks[0]?.project.id
  const withId = (wanted: string | null | undefined) => listed?.find(({ id }) => id === wanted)
  const project = withId(projectId) ?? withId(latest)
  return { project, options, setProjectId }
}

function missingOf(description: string, project: Project | undefined, branch: string | null): string | null {
  if (description.trim() === '') return texts.missing.description
  if (project === undefined) return texts.missing.project
  if (branch === null) return texts.missing.branch
  return tooLong(description, limits.descriptionLength) ?? null
}

interface Start {
  /** Where the task runs, and by whom; `null` while something is missing. */
  readonly wanted: Pick<NewTask, 'projectId' | 'branch' | 'codexModel' | 'agent'> | null
  readonly images: PendingImages
  /** Ends the writing, and returns what was written. */
  readonly take: () => string
  readonly clear: () => void
}

/** Creates the task once its images are uploaded, and has the server prepare for it before. */
function useStart({ wanted, images, take, clear }: Start) {
  const dispatch = useDispatch()
  const [create, { isLoading }] = useCreateTaskMutation()
  const [attempted, setAttempted] = useState(false)
  // One id until the server has the task: sending again after a lost answer makes no second one.
  const [id, setId] = useState(newId)
  usePrewarm(isLoading || wanted === null ? null : { taskId: id, ...wanted })

  const start = async () => {
    if (isLoading || wanted === null) return
    const description = take()
    const ids = images.completed().map((image) => image.id)
    const answer = await create({ id, title: titleOf(description), description, ...wanted, images: ids })
    if (answer.error !== undefined) {
      dispatch(notifiedFailure(texts.notCreated, answer.error))
      return
    }
    setId(newId())
    clear()
    images.clear()
    setAttempted(false)
    dispatch(notified('success', texts.created, texts.createdWhy))
  }
  const { waiting, stopped, ask } = useWhenUploaded(images, () => void start())
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (isLoading || waiting) return
    setAttempted(true)
    if (wanted !== null) ask()
  }
  return { submit, attempted, waiting, stopped, busy: isLoading || waiting }
}

function ProjectsFailed({ projects }: { readonly projects: ReturnType<typeof useProjectsQuery> }) {
  const { error, isFetching, refetch } = projects
  return (
    <Note
      kind="error"
      className="mb-3"
      action={
        <Button size="small" busy={isFetching} onClick={() => void refetch()}>
          {texts.tryAgain}
        </Button>
      }
    >
      {texts.projectsNotFetched(reasonOf(error, 'Failed to fetch projects'))}
    </Note>
  )
}

interface BranchPickerProps {
  readonly branch: ReturnType<typeof useBranchChoice>
  readonly disabled: boolean
}

function BranchPicker({ branch, disabled }: BranchPickerProps) {
  return (
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
      disabled={disabled || branch.loading}
    />
  )
}

function StartButton({ disabled, busy }: { readonly disabled: boolean; readonly busy: boolean }) {
  return (
    <>
      <span aria-hidden="true" className="mx-1 hidden wide:inline-flex">
        <Keys written={startKey} />
      </span>
      <Button
        kind="primary"
        size="touch"
        type="submit"
        aria-keyshortcuts={ariaKeys(startKey, isMac())}
        disabled={disabled}
        busy={busy}
        busyLabel={texts.creating}
      >
        {texts.start}
      </Button>
    </>
  )
}

function Refusal({ children }: { readonly children: string }) {
  return (
    <Note kind="error" className="mt-3">
      {children}
    </Note>
  )
}

/** Whoever writes for longer asks again before what was made is taken away. */
const againMs = 50_000
/** A choice that is changed at once is not asked for. */
const settledMs = 400

type Wanted = Parameters<ReturnType<typeof usePrepareTaskMutation>[0]>[0]

/** `wanted` is `null` while the task lacks something, or nothing of it is written yet. */
function usePrewarm(wanted: Wanted | null): void {
  const [prepare] = usePrepareTaskMutation()
  const asked = wanted === null ? null : JSON.stringify(wanted)
  useEffect(() => {
    if (asked === null) return undefined
    const ask = () => {
      const body: Wanted = JSON.parse(asked)
      void prepare(body)
    }
    const first = setTimeout(ask, settledMs)
    const again = setInterval(() => {
      if (document.visibilityState === 'visible') ask()
    }, againMs)
    return () => {
      clearTimeout(first)
      clearInterval(again)
    }
  }, [asked, prepare])
}
