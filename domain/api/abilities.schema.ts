/** Skills, commands and subagents that an agent can be told to use, and files that a message can mention. */
import { z } from 'zod'
import { ProjectId, TaskId } from '../kernel/ids.schema.ts'
import { AgentName } from '../task/events.ts'
import { abilityLimits, abilityRoutes } from './abilities.ts'
import { defineRead } from './call.schema.ts'
import { branchName, Text } from './fields.schema.ts'

/** A skill, command or subagent of a repository. */
export const RepositoryAbility = z.object({
  kind: z.enum(['skill', 'command', 'subagent']),
  name: z.string(),
  description: z.string(),
  /** A hint for the words that may follow the name; `null` when the repository has no hint. */
  argument: z.string().nullable(),
})
export type RepositoryAbility = z.infer<typeof RepositoryAbility>

export const Ability = RepositoryAbility.extend({
  /** `agent`: the ability is built into the agent's program. */
  from: z.enum(['repository', 'person', 'agent']),
  /** Where the replaced ability of the same name came from; `null` when this ability replaces none. */
  replaces: z.enum(['person', 'agent']).nullable(),
})
export type Ability = z.infer<typeof Ability>

const abilities = {
  /** The abilities, sorted by name. */
  abilities: z.array(Ability),
  /** Sentences that say which files of the repository were left out, and why. */
  notes: z.array(z.string()),
}
/** The agent whose abilities are listed: by default the task's agent or, for a project, the default agent. */
const agent = AgentName.optional()
const branch = branchName('Select a branch.').optional()

export const listTaskAbilities = defineRead(abilityRoutes.listTaskAbilities, {
  summary: 'The skills, commands and subagents that can be used in a task, by the commit that it began from.',
  params: z.object({ taskId: TaskId }),
  query: { agent },
  answer: abilities,
  faults: ['not_found'],
})

export const listProjectAbilities = defineRead(abilityRoutes.listProjectAbilities, {
  summary:
    'The skills, commands and subagents for a new task, by a branch as last fetched; the default branch if none is given.',
  params: z.object({ projectId: ProjectId }),
  query: { agent, branch },
  answer: abilities,
  faults: ['not_found'],
})

/** The text to search for: a part of a file's path. Upper and lower case are not distinguished. */
export const FileSearch = Text.max(abilityLimits.searchLength).default('')
/** Paths of files. Files whose name contains the search come first, then files whose path contains it elsewhere. */
export const FoundFiles = z.array(z.string())

export const findProjectFiles = defineRead(abilityRoutes.findProjectFiles, {
  summary: 'At most 30 files of a branch as last fetched, whose path contains the search.',
  params: z.object({ projectId: ProjectId }),
  query: { search: FileSearch, branch },
  answer: { files: FoundFiles },
  faults: ['not_found'],
})
