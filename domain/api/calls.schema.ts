/** All calls of the API, grouped by subject, with their names in the documentation. */
import * as abilities from './abilities.schema.ts'
import * as admin from './admin.schema.ts'
import * as agentKeys from './agentKeys.schema.ts'
import * as artifacts from './artifacts.schema.ts'
import * as auth from './auth.schema.ts'
import type { AnyCall } from './call.schema.ts'
import * as chat from './chat.schema.ts'
import * as comparison from './comparison.schema.ts'
import * as cleanUp from './cleanUp.schema.ts'
import * as environment from './environment.schema.ts'
import * as feedback from './feedback.schema.ts'
import * as fork from './fork.schema.ts'
import * as history from './history.schema.ts'
import * as figures from './figures.schema.ts'
import * as github from './github.schema.ts'
import * as images from './images.schema.ts'
import * as instructions from './instructions.schema.ts'
import * as mcpServers from './mcpServers.schema.ts'
import * as preview from './preview.schema.ts'
import * as projects from './projects.schema.ts'
import * as projectSettings from './projectSettings.schema.ts'
import * as provenance from './provenance.schema.ts'
import * as questions from './questions.schema.ts'
import * as server from './server.schema.ts'
import * as setup from './setup.schema.ts'
import * as taskFiles from './taskFiles.schema.ts'
import * as tasks from './tasks.schema.ts'

export interface NamedCall {
  readonly name: string
  readonly about: string
  readonly call: AnyCall
}

/** The subjects of the calls, in the order of the documentation. */
export const subjects = {
  Authentication: { of: auth, says: 'Signing in, the profile, the onboarding.' },
  Projects: {
    of: {
      ...projects,
      ...projectSettings,
      ...environment,
      ...mcpServers,
      getGitHubAccess: github.getGitHubAccess,
    },
    says: 'Projects, and the repositories of the code host behind them.',
  },
  Tasks: {
    of: {
      ...tasks,
      ...taskFiles,
      ...questions,
      ...feedback,
      ...cleanUp,
      ...fork,
      ...provenance,
      ...comparison,
      ...preview,
    },
    says: 'Create and run tasks, start new ones from a turn, undo turns, read the files and the changes, and open pull requests.',
  },
  Chat: { of: chat, says: "A task's messages, tool calls and terminal." },
  History: { of: history, says: 'Everything that was recorded of a task, in order.' },
  Images: {
    of: { ...images, ...artifacts },
    says: 'Images for tasks and messages, and files that agents leave for people.',
  },
  Agents: {
    of: { getAgents: server.getAgents, ...abilities, ...instructions, ...agentKeys },
    says: "The agents that can work on tasks, what they can be told to use, and people's own keys for their models.",
  },
  Figures: { of: figures, says: 'What tasks took, by project, agent, model, person and week.' },
  Administration: {
    of: { ...admin, getGitHubRights: github.getGitHubRights },
    says: 'The audit log of this server, and how its App stands at GitHub, for its administrators.',
  },
  Server: {
    of: { getNotices: server.getNotices, countPageView: server.countPageView, ...setup },
    says: 'Information about this server, and its set-up.',
  },
} as const

/** All calls, ordered by subject, then by path. */
export const calls: readonly NamedCall[] = Object.entries(subjects).flatMap(([about, { of }]) =>
  Object.entries(of)
    .flatMap(([name, member]: readonly [string, unknown]) =>
      isCall(member) ? [{ name, about, call: member }] : [],
    )
    .toSorted((a, b) => (a.call.path < b.call.path ? -1 : a.call.path > b.call.path ? 1 : 0)),
)

function isCall(member: unknown): member is AnyCall {
  return typeof member === 'object' && member !== null && 'method' in member && 'path' in member
}
