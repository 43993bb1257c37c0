/** The branch that a task starts from: the project's default until another is chosen, and `main` where there is none yet. */
import { useState } from 'react'
import type { Project } from '#domain/api/projects.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import type { PickerOption } from '../../ui/overlay/pickerOptions.ts'
import { useBranchesQuery } from '../projects/projectsApi.ts'
import { errorTexts } from '../projects/projectsApi.ts'
import { texts } from './texts.ts'

/** The branch of a repository that has none (section 9). */
const firstBranch = 'main'

interface BranchChoice {
  readonly options: readonly PickerOption[]
  readonly chosen: string | null
  readonly onChoose: (branch: string) => void
  readonly loading: boolean
  /** The repository is empty: the branch is made when the agent starts. */
  readonly toBeMade: boolean
  readonly error: string | undefined
}

export function useBranchChoice(project: Project | undefined): BranchChoice {
  const { currentData, error, isFetching } = useBranchesQuery(project?.id ?? '', {
    skip: project === undefined,
  })
  // A choice is for one project; another project begins with its own default.
  const [choice, setChoice] = useState<{ projectId: string; branch: string } | null>(null)
  const names = currentData?.branches.map(({ name }) => name)
  const toBeMade = names !== undefined && names.length === 0
  const wanted = choice !== null && choice.projectId === project?.id ? choice.branch : project?.defaultBranch
  return {
    options: toBeMade
      ? [{ value: firstBranch, label: texts.mainToBe }]
      : (names ?? []).map((name) => ({ value: name, label: name })),
    chosen:
      names === undefined
        ? null
        : toBeMade
          ? firstBranch
          : (names.find((name) => name === wanted) ?? names[0] ?? null),
    onChoose: (branch) => {
      if (project !== undefined) setChoice({ projectId: project.id, branch })
    },
    loading: project !== undefined && isFetching && currentData === undefined,
    toBeMade,
    error: error === undefined ? undefined : reasonOf(error, errorTexts.branchesNotFetched),
  }
}
