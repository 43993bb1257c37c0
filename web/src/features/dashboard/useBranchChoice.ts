/** The branch that a task starts from: the project's default until another is chosen, and `main` in an empty repository. */
import { useState } from 'react'
import type { Project } from '#domain/api/projects.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { errorTexts, useBranchesQuery } from '../projects/projectsApi.ts'
import { texts } from './texts.ts'

/** The first branch of an empty repository (contract, section 9). */
const firstBranch = 'main'

/** `isEmpty`: the repository has no branch, so the branch is created when the agent starts. */
export function useBranchChoice(project: Project | undefined) {
  const { currentData, error, isFetching } = useBranchesQuery(project?.id ?? '', {
    skip: project === undefined,
  })
  // A choice is for one project; another project begins with its own default.
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
    error: error === undefined ? undefined : reasonOf(error, errorTexts.branchesNotFetched),
  }
}
