/** The sample repository of a new local code host, to be made a project by one click. */
import type { Project, Repository } from '#domain/api/projects.schema.ts'
import { sampleRepository } from '#domain/api/projects.ts'
import { reasonOf } from '../../api/fault.ts'
import { useCreateProjectMutation, useRepositoriesQuery } from './projectsApi.ts'
import { texts } from './texts.ts'

interface SampleProject {
  /** Whether there is one is not known yet. */
  readonly isLoading: boolean
  readonly exists: boolean
  readonly adding: boolean
  readonly error: string | undefined
  /** Makes it a project; `null` when that failed. */
  readonly add: () => Promise<Project | null>
}

export function useSampleProject(): SampleProject {
  const { data, isLoading } = useRepositoriesQuery()
  const [create, { isLoading: adding, error }] = useCreateProjectMutation()
  const sample = data?.repositories.find(isSampleRepository)
  return {
    isLoading,
    exists: sample !== undefined,
    adding,
    error: error === undefined ? undefined : reasonOf(error, texts.notCreated),
    add: async () => {
      if (sample === undefined) return null
      const answer = await create({ repoUrl: sample.html_url })
      return answer.error === undefined ? answer.data.project : null
    },
  }
}

export function isSample({ githubRepoName, description }: Project): boolean {
  return githubRepoName === sampleRepository.name && description === sampleRepository.description
}

function isSampleRepository({ name, description }: Repository): boolean {
  return name === sampleRepository.name && description === sampleRepository.description
}
