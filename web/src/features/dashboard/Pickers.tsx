/** The pickers of the project and the branch from which a new task starts. */
import { type ComponentProps, useMemo, useState } from 'react'
import { FolderGit2, GitBranch } from 'lucide-react'
import { useNavigate } from 'react-router-dom'
import type { Project } from '#domain/api/projects.schema.ts'
import { useBranchesQuery } from '../projects/projectsApi.ts'
import { texts } from './texts.ts'
import type { PickerOption } from '../../ui/overlay/pickerOptions.ts'
import { selectedProjectId } from '../../state/persisted.ts'
import { usePersisted } from '../../state/usePersisted.ts'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { useRecentTasksQuery } from '../tasks/tasksApi.ts'

/** The chosen project. Until a person chooses one, the only project counts as chosen, or else the project of the latest task. */
export function useProject(listed: readonly Project[] | undefined) {
  const [projectId, setProjectId] = usePersisted(selectedProjectId)
  const options = useMemo(() => projectOptions(listed ?? []), [listed])
  const recent = useRecentTasksQuery()
  const [first, second] = listed ?? []
  const latest = second === undefined ? first?.id : recent.data?.tasks[0]?.project.id
  const withId = (id: string | undefined) => listed?.find((project) => project.id === id)
  const project = withId(projectId) ?? withId(latest)
  return { project, options, setProjectId }
}

/** The options of the project picker. Projects of organisations come first; apart from that, projects are sorted by owner and name. */
export function projectOptions(projects: readonly Project[]): readonly PickerOption[] {
  return projects
    .toSorted(
      (a, b) =>
        Number(b.isOrganization) - Number(a.isOrganization) ||
        a.githubOwner.localeCompare(b.githubOwner) ||
        a.githubRepoName.localeCompare(b.githubRepoName) ||
        a.name.localeCompare(b.name),
    )
    .map((project) => ({
      value: project.id,
      label: `${project.githubOwner}/${project.githubRepoName}`,
      group: project.githubOwner,
    }))
}

interface ProjectPickerProps extends Pick<ComponentProps<typeof Picker>, 'options' | 'chosen' | 'onChoose'> {
  /** Whether the person has no project yet. */
  readonly isEmpty: boolean
}

export function ProjectPicker({ isEmpty, ...choice }: ProjectPickerProps) {
  const navigate = useNavigate()
  return (
    <Picker
      {...choice}
      label={texts.project}
      placeholder={texts.noProject}
      icon={<FolderGit2 className="size-3.5" />}
      filterLabel={texts.filterProjects}
      emptyText={isEmpty ? texts.noProjectsYet : texts.noProjects}
      action={{ label: texts.manage, onChoose: () => void navigate('/projects') }}
    />
  )
}

/** The first branch of an empty repository (contract, section 9). */
const firstBranch = 'main'

/**
 * The branch of a new task: the chosen one, else the project's default branch, else the first branch; `null` until the branches are known. `isEmpty`
 * says that the repository has no branch, so that `main` is created when the agent starts.
 */
export function useBranchChoice(project: Project | undefined) {
  const { currentData, error, isFetching, refetch } = useBranchesQuery(project?.id ?? '', {
    skip: project === undefined,
  })
  // A choice holds for one project; another project starts with its own default branch.
  const [choice, setChoice] = useState<{ projectId: string; branch: string } | null>(null)
  const names = currentData?.branches.map(({ name }) => name)
  const isEmpty = names !== undefined && names.length === 0
  const preferred = choice?.projectId === project?.id ? choice?.branch : project?.defaultBranch
  return {
    options: isEmpty
      ? [{ value: firstBranch, label: texts.mainToBe }]
      : (names ?? []).map((name) => ({ value: name, label: name })),
    chosen: isEmpty ? firstBranch : (names?.find((name) => name === preferred) ?? names?.[0] ?? null),
    onChoose: (branch: string) => {
      if (project !== undefined) setChoice({ projectId: project.id, branch })
    },
    loading: project !== undefined && isFetching && currentData === undefined,
    isEmpty,
    error,
    isFetching,
    refetch,
  }
}

export interface BranchPickerProps {
  readonly branch: ReturnType<typeof useBranchChoice>
  readonly disabled: boolean
}

export function BranchPicker({ branch, disabled }: BranchPickerProps) {
  return (
    <Picker
      label={texts.branch}
      placeholder={branch.loading ? texts.loadingBranches : texts.noBranch}
      icon={<GitBranch className="size-3.5" />}
      options={branch.options}
      chosen={branch.chosen}
      onChoose={branch.onChoose}
      mono
      note={branch.isEmpty ? texts.mainToBeNote : undefined}
      filterLabel={texts.filterBranches}
      emptyText={texts.noBranches}
      disabled={disabled || branch.loading}
    />
  )
}
