/** Creates a project from the sample repository, which a local code host makes for its first account. */
import type { Project } from '#domain/api/projects.schema.ts'
import { sampleRepository } from '#domain/api/projects.ts'
import { reasonOf } from '../../api/fault.ts'
import { useCreateProjectMutation, useRepositoriesQuery } from './projectsApi.ts'
import { texts } from './texts.ts'

/** `exists` says whether there is a sample repository, once `isLoading` is false. `add` returns the new project, or `null` if that failed. */
export function useSampleProject() {
  const { data, isLoading } = useRepositoriesQuery()
  const [create, { isLoading: adding, error }] = useCreateProjectMutation()
  const sample = data?.repositories.find((repository) =>
    isSampleNamed(repository.name, repository.description),
  )
  return {
    isLoading,
    exists: sample !== undefined,
    adding,
    error: error === undefined ? undefined : reasonOf(error, texts.notCreated),
    add: async (): Promise<Project | null> => {
      if (sample === undefined) return null
      const answer = await create({ repoUrl: sample.html_url })
      return answer.error === undefined ? answer.data.project : null
    },
  }
}

export const isSample = ({ githubRepoName, description }: Project): boolean =>
  isSampleNamed(githubRepoName, description)

const isSampleNamed = (name: string, description: string | null): boolean =>
  name === sampleRepository.name && description === sampleRepository.description
