/** The settings of a project as the API shows them. A project without settings has no document. */
import type { ShownSettings } from '../api/projectSettings.schema.ts'
import { parseStream } from '../kernel/streams.ts'
import { defaultRule, type FeedbackRule } from '../task/feedbackRule.ts'
import { noSettings, type ProjectSettings } from '../project/settings.ts'
import type { View, ViewDocument } from './view.ts'

export interface ProjectSettingsDocument extends ViewDocument, ProjectSettings {
  readonly secrets: ShownSettings['secrets']
  /** Missing until it was first changed. */
  readonly feedback?: FeedbackRule
}

const changing = [
  'ProjectSettingsChanged',
  'ProjectSecretSet',
  'ProjectSecretRemoved',
  'ProjectFeedbackRuleChanged',
  'ProjectDeleted',
] as const

export const projectSettingsView: View<ProjectSettingsDocument> = {
  collection: 'projectSettings',
  version: 1,
  streams: ['project'],
  types: changing,
  indexes: [],
  touches: ({ type, stream: name }) => {
    const stream = parseStream(name)
    return stream.kind === 'project' && changing.some((one) => one === type) ? [stream.id] : []
  },
  evolve: (document, event, id) => {
    const before = document ?? { id, position: event.position, ...noSettings, secrets: [] }
    const seen = { ...before, version: event.revision }
    switch (event.type) {
      case 'ProjectSettingsChanged':
        return { ...seen, ...event.content }
      case 'ProjectSecretSet': {
        if (event.content === null) return seen
        const set = { name: event.content.name, forAgent: event.data.forAgent, updatedAt: event.at }
        return { ...seen, secrets: [...without(seen.secrets, set.name), set].toSorted(byName) }
      }
      case 'ProjectSecretRemoved':
        return { ...seen, secrets: without(seen.secrets, event.content?.name) }
      case 'ProjectFeedbackRuleChanged':
        return { ...seen, feedback: event.data }
      case 'ProjectDeleted':
        return undefined
      default:
        return document
    }
  },
}

/** What the API shows of a project's settings. */
export function settingsOf(document: ProjectSettingsDocument | undefined): ShownSettings {
  const { setupCommand, variables, egress, modelFetches } = { ...noSettings, ...document }
  return {
    setupCommand,
    variables: [...variables],
    secrets: document?.secrets ?? [],
    egress: [...egress],
    modelFetches,
    feedback: document?.feedback ?? defaultRule,
  }
}

type Secrets = ShownSettings['secrets']

const byName = (one: Secrets[number], other: Secrets[number]): number => (one.name < other.name ? -1 : 1)

function without(secrets: Secrets, name: string | undefined): Secrets {
  return secrets.filter((secret) => secret.name !== name)
}
