/** The form for a new task: description, images, project, branch, agent, model and mode. The draft is kept between visits. */
import { ImagePlus } from 'lucide-react'
import { Suspense, useEffect, useRef } from 'react'
import { modeFor, modesOf } from '#domain/agents/capabilities.ts'
import { limits } from '#domain/api/limits.ts'
import type { Project } from '#domain/api/projects.schema.ts'
import { Keys } from '../../actions/Keys.tsx'
import { ariaKeys, isMac } from '../../actions/keys.ts'
import { reasonOf } from '../../api/fault.ts'
import { readToken } from '../../api/tokenStore.ts'
import {
  draftDescription,
  recall,
  selectedAgent,
  selectedMode,
  selectedModel,
} from '../../state/persisted.ts'
import { changeElsewhere, showElsewhere, usePersisted } from '../../state/usePersisted.ts'
import { Button } from '../../ui/form/Button.tsx'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { tooLong } from '../../ui/form/lengthLimit.ts'
import { TextArea } from '../../ui/form/TextArea.tsx'
import { AgentPicker } from '../agents/AgentPicker.tsx'
import { useSuggestions } from '../agents/useSuggestions.tsx'
import { offered, useModels } from '../agents/reportedModels.ts'
import { selectedEffort } from '../agents/selectedEffort.ts'
import { AttachButton } from '../images/AttachButton.tsx'
import { maxImages } from '../images/acceptFiles.ts'
import { DropHint, useImageDrop } from '../images/useImageDrop.tsx'
import { PendingTray } from '../images/PendingTray.tsx'
import { texts as imageTexts } from '../images/texts.ts'
import { usePendingImages } from '../images/usePendingImages.ts'
import { errorTexts, useProjectsQuery } from '../projects/projectsApi.ts'
import { appendWords, useVoice } from '../voice/useVoice.ts'
import { VoiceButton } from '../voice/VoiceButton.tsx'
import { BranchPicker, ProjectPicker, useBranchChoice, useProject } from './Pickers.tsx'
import { texts } from './texts.ts'
import { useStartTask } from './useStartTask.ts'

const ModelPicker = optionalPart(async () => (await import('../agents/ModelPicker.tsx')).ModelPicker)
const ModePicker = optionalPart(async () => (await import('../agents/ModePicker.tsx')).ModePicker)

const startKey = 'mod+enter'

export function Composer() {
  const projects = useProjectsQuery()
  const { description, write, latest, clear } = useDescription()
  const voice = useVoice((words) => {
    // Logging out discards the draft, so nothing is added to it any more.
    if (readToken() !== null) write(appendWords(latest.current, words))
  })
  const images = usePendingImages(maxImages.compact)
  const drop = useImageDrop(images.add)
  const { agent, setAgent, model, effort, setModel } = useAgentAndModel()
  const [mode, setMode] = usePersisted(selectedMode)
  const used = modeFor(agent, mode)
  const { project, options, setProjectId } = useProject(projects.data?.projects)
  const branch = useBranchChoice(project)
  const place = project === undefined ? null : { projectId: project.id, branch: branch.chosen }
  const slash = useSuggestions({ agent, place, text: description, onWrite: write, begins: true })
  const missing = missingOf(description, project, branch.chosen)
  const start = useStartTask({
    task:
      missing !== null || project === undefined || branch.chosen === null
        ? null
        : { projectId: project.id, branch: branch.chosen, codexModel: model, agent },
    effort,
    mode: used === 'free' ? undefined : used,
    images,
    takeDescription() {
      voice.end()
      return latest.current.trim()
    },
    clear,
  })
  const notice = start.waiting ? imageTexts.waiting : start.stopped ? imageTexts.stopped : null

  return (
    <>
      <RetryNote read={projects} className="mb-3">
        {texts.projectsNotFetched(reasonOf(projects.error, errorTexts.notFetched))}
      </RetryNote>
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
        <PendingTray pending={images} notice={notice} />
        <div className="flex flex-wrap items-center gap-1.5 p-2">
          <ProjectPicker
            options={options}
            chosen={project?.id ?? null}
            onChoose={setProjectId}
            isEmpty={projects.data?.projects.length === 0}
          />
          <BranchPicker branch={branch} disabled={project === undefined} />
          <AgentPicker label={texts.agent} agent={agent} onChoose={setAgent} />
          <Suspense fallback={<span className="w-32" />}>
            <ModelPicker agent={agent} model={model} effort={effort} onChoose={setModel} />
          </Suspense>
          {modesOf(agent).length > 1 && (
            <Suspense fallback={<span className="w-11 md:w-28" />}>
              <ModePicker agent={agent} mode={mode} onChoose={setMode} />
            </Suspense>
          )}
          <span className="ml-auto flex items-center gap-1.5">
            <AttachButton images={images} icon={ImagePlus} />
            <VoiceButton voice={voice} />
            <StartButton disabled={missing !== null} busy={start.busy} />
          </span>
        </div>
        {drop.over && <DropHint most={images.most} />}
      </form>
      {/* Once there is a description, the reason why Start is disabled is shown even before anybody presses it. */}
      {missing !== null && (start.attempted || (description.trim() !== '' && !branch.loading)) && (
        <Note kind="error" className="mt-3">
          {missing}
        </Note>
      )}
      <RetryNote read={branch} className="mt-3">
        {reasonOf(branch.error, errorTexts.branchesNotFetched)}
      </RetryNote>
    </>
  )
}

/** The draft, and a ref to its latest text, because several dictated words may arrive before the next render. */
function useDescription() {
  const [description, setDescription] = usePersisted(draftDescription)
  const latest = useRef(description)
  // `latest` follows the draft, because other parts of the page change the draft too: a suggested task, for example, is written into it.
  useEffect(() => {
    latest.current = description
  }, [description])
  const write = (next: string) => {
    latest.current = next
    setDescription(next)
  }
  const isShown = useRef(false)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  /** Clears what was sent, also in a composer that was opened after this one was left. The draft of another browser tab stays. */
  const clear = (sent: string) => {
    const stored = recall(draftDescription)
    if ((isShown.current ? latest.current : stored).trim() !== sent) return
    const change = stored.trim() === sent ? changeElsewhere : showElsewhere
    change(draftDescription, '')
  }
  return { description, write, latest, clear }
}

function useAgentAndModel() {
  const [agent, chooseAgent] = usePersisted(selectedAgent)
  const [model, chooseModel] = usePersisted(selectedModel)
  const [level, chooseEffort] = usePersisted(selectedEffort)
  const effort = offered(useModels(agent), model, level)
  const setModel = (chosen: { readonly model: string | null; readonly effort: string | null }) => {
    chooseModel(chosen.model ?? selectedModel.initial)
    chooseEffort(chosen.effort ?? selectedEffort.initial)
  }
  const setAgent = (chosen: typeof agent) => {
    // The previous model may not exist for another agent.
    if (chosen !== agent) setModel({ model: null, effort: null })
    chooseAgent(chosen)
  }
  return { agent, setAgent, model, effort, setModel }
}

function missingOf(description: string, project: Project | undefined, branch: string | null): string | null {
  if (description.trim() === '') return texts.missing.description
  if (project === undefined) return texts.missing.project
  if (branch === null) return texts.missing.branch
  return tooLong(description, limits.descriptionLength) ?? null
}

function StartButton({ disabled, busy }: { readonly disabled: boolean; readonly busy: boolean }) {
  return (
    <>
      <span aria-hidden="true" className="mx-1 hidden wide:inline-flex">
        <Keys keys={startKey} />
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
