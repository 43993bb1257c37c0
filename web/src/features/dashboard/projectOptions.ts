/** The options of the project picker: by owner, organisations first, each alphabetically. */
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
