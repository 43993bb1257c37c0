/** Projects as the picker lists them: by owner, organisations first, each in the order of the alphabet. */
import type { Project } from '#domain/api/projects.schema.ts'
import type { PickerOption } from '../../ui/overlay/pickerOptions.ts'

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

/** The title of a task: the first line of its description, cut to 100 characters (section 5). */
const titleLength = 100

export function titleOf(description: string): string {
  const line = (description.trim().split('\n')[0] ?? '').trim()
  // By code points: a cut must not halve an emoji.
  return [...line].slice(0, titleLength).join('')
}
