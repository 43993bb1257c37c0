/** The project: state, commands, and what may happen to it. */
import type { Decider, Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { RecordedOf } from '../kernel/event.ts'
import {
  ProjectCreated,
  ProjectDeleted,
  ProjectSynced,
  ProjectSyncFailed,
  ProjectUpdated,
  type ProjectEvent,
  type RepositoryFacts,
} from './events.ts'

export type ProjectState =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'project'
      readonly ownerId: string
      readonly name: string
      readonly description: string
    }
  | { readonly kind: 'deleted'; readonly ownerId: string }

export type ProjectCommand =
  | {
      readonly type: 'CreateProject'
      readonly projectId: string
      readonly ownerId: string
      readonly githubRepoId: string
      readonly isPrivate: boolean
      readonly name: string
      readonly description: string
      readonly repository: RepositoryFacts
    }
  | { readonly type: 'UpdateProject'; readonly name?: string; readonly description?: string }
  | { readonly type: 'RecordSync'; readonly isPrivate: boolean; readonly repository: RepositoryFacts }
  | { readonly type: 'RecordSyncFailure'; readonly code: string; readonly reason: string }
  | { readonly type: 'DeleteProject' }

function decide(command: ProjectCommand, state: ProjectState): Decision<ProjectEvent> {
  if (command.type === 'CreateProject') {
    if (state.kind !== 'none') return refuse('already_exists', 'This project exists already.')
    const { projectId, ownerId, githubRepoId, isPrivate, name, description, repository } = command
    return [
      ProjectCreated.of(
        { projectId, ownerId, githubRepoId, isPrivate },
        { ...repository, name, description },
      ),
    ]
  }
  if (state.kind !== 'project') return refuse('not_found', 'There is no such project.')
  switch (command.type) {
    case 'UpdateProject': {
      const name = command.name ?? state.name
      const description = command.description ?? state.description
      return name === state.name && description === state.description
        ? []
        : [ProjectUpdated.of({}, { name, description })]
    }
    case 'RecordSync':
      return [ProjectSynced.of({ isPrivate: command.isPrivate }, command.repository)]
    case 'RecordSyncFailure':
      return [ProjectSyncFailed.of({ code: command.code }, { reason: command.reason })]
    case 'DeleteProject':
      return [ProjectDeleted.of({})]
  }
}

function evolve(state: ProjectState, event: RecordedOf<ProjectEvent>): ProjectState {
  switch (event.type) {
    case 'ProjectCreated':
      return {
        kind: 'project',
        ownerId: event.data.ownerId,
        name: event.content?.name ?? '',
        description: event.content?.description ?? '',
      }
    case 'ProjectUpdated':
      return state.kind === 'project' && event.content !== null ? { ...state, ...event.content } : state
    case 'ProjectDeleted':
      return state.kind === 'project' ? { kind: 'deleted', ownerId: state.ownerId } : state
    case 'ProjectSynced':
    case 'ProjectSyncFailed':
      return state
  }
}

export const project: Decider<ProjectState, ProjectCommand, ProjectEvent> = {
  initial: { kind: 'none' },
  decide,
  evolve,
}
