/** People's own instructions and commands for agents: one document for each person who ever changed them. */
import type { OwnInstructions } from '../user/instructions.ts'
import { ownDocument, type View, type ViewDocument } from './view.ts'

export const noInstructions: OwnInstructions = { instructions: '', commands: [] }

export interface InstructionsDocument extends ViewDocument, OwnInstructions {}

export const instructionsView: View<InstructionsDocument> = {
  collection: 'instructions',
  version: 1,
  streams: ['user'],
  indexes: [],
  touches: ownDocument('user'),
  evolve: (document, event, id) => {
    const at = { position: event.position, version: event.revision }
    switch (event.type) {
      case 'InstructionsChanged':
        return { id, ...(event.content ?? noInstructions), ...at }
      case 'AccountDeleted':
        return undefined
      default:
        return document && { ...document, ...at }
    }
  },
}
