/** The language of a project, and a link to its repository. */
import { ExternalLink } from 'lucide-react'
import type { Project } from '#domain/api/projects.schema.ts'
import { safeLink } from '../../ui/text/safeLink.ts'

export function RepositoryLine({ project }: { readonly project: Project }) {
  const href = safeLink(project.githubUrl)
  const name = `${project.githubOwner}/${project.githubRepoName}`
  return (
    <div className="flex min-w-0 gap-3.5 text-meta text-muted">
      {project.language !== null && (
        <span className="inline-flex flex-none items-center gap-1.5">
          <span
            className="size-2 rounded-full"
            style={{ background: languageColour(project.language) }}
            aria-hidden="true"
          />
          {project.language}
        </span>
      )}
      {href !== null && (
        <a
          href={href}
          target="_blank"
          rel="noreferrer"
          title={name}
          className="relative z-10 inline-flex min-w-0 items-center gap-1 hover:text-text hover:underline"
        >
          <span className="truncate">{name}</span>
          <ExternalLink className="size-3" />
        </a>
      )}
    </div>
  )
}

/** The colours of languages, as on GitHub (from linguist). */
const colours: Readonly<Record<string, string>> = {
  TypeScript: '#3178c6',
  JavaScript: '#f1e05a',
  Python: '#3572a5',
  Java: '#b07219',
  Go: '#00add8',
  Rust: '#dea584',
  Ruby: '#701516',
  PHP: '#4f5d95',
  'C#': '#178600',
  'C++': '#f34b7d',
  Kotlin: '#a97bff',
  Shell: '#89e051',
}

/** The colour of a language; muted for an unknown one. */
export function languageColour(language: string): string {
  return (Object.hasOwn(colours, language) && colours[language]) || 'var(--muted)'
}
