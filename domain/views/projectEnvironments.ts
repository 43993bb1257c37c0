/** The environments of projects: one document per project, with the results of its last setup. A project whose setup never ran has no document. */
import type { ShownEnvironment } from '../api/environment.schema.ts'
import { ownDocument, type View, type ViewDocument } from './view.ts'

export interface ProjectEnvironmentDocument extends ViewDocument, ShownEnvironment {}

const folded = [
  'ProjectEnvironmentStarted',
  'ProjectEnvironmentPrepared',
  'ProjectEnvironmentFailed',
  'ProjectDeleted',
] as const

export const projectEnvironmentsView: View<ProjectEnvironmentDocument> = {
  collection: 'projectEnvironments',
  version: 2,
  streams: ['project'],
  types: folded,
  indexes: [],
  touches: ownDocument('project', folded),
  evolve: (document, event, id) => {
    const before = { ...noEnvironment, ...document, id, position: document?.position ?? event.position }
    const seen = { ...before, version: event.revision, since: event.at }
    switch (event.type) {
      case 'ProjectEnvironmentStarted': {
        const { trigger } = event.data
        const changed = trigger === 'lock_files' ? [...(event.content?.changed ?? [])] : null
        return { ...seen, state: 'building', reason: null, changed }
      }
      case 'ProjectEnvironmentPrepared': {
        const { log = '', leftOut = [] } = event.content ?? {}
        const kept = { builtAt: event.at, ...event.data, log, leftOut: [...leftOut] }
        return { ...seen, ...kept, state: 'ready', reason: null, usesEarlier: false }
      }
      case 'ProjectEnvironmentFailed': {
        const { reason = '', log = '' } = event.content ?? {}
        return { ...seen, state: 'failed', reason, log, usesEarlier: event.data.usesEarlier }
      }
      case 'ProjectDeleted':
        return undefined
      default:
        return document
    }
  },
}

const noEnvironment: ShownEnvironment = {
  state: 'none',
  since: null,
  builtAt: null,
  seconds: null,
  bytes: null,
  reason: null,
  usesEarlier: false,
  changed: null,
  leftOut: [],
  log: '',
}

export function shownEnvironment(document: ProjectEnvironmentDocument | undefined): ShownEnvironment {
  if (!document) return noEnvironment
  const { id: _id, position: _position, version: _version, ...shown } = document
  return shown
}
