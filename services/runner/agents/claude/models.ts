/** Which models `claude` has, and how it is told to use another of them while it runs. */
import { takesModel } from '#domain/agents/models.ts'
import type { AgentModel } from '#domain/api/server.schema.ts'
import type { AgentDialogue } from '../port.ts'
import type { ControlResponse } from './lines.ts'

/** Its aliases, each of which follows the latest model of a family, until it has reported its own. */
export const suggestedModels: readonly AgentModel[] = [
  { name: 'opus', label: 'Opus' },
  { name: 'sonnet', label: 'Sonnet' },
  { name: 'haiku', label: 'Haiku' },
  { name: 'opusplan', label: 'Opus to plan, Sonnet to code' },
  { name: 'sonnet[1m]', label: 'Sonnet, 1M context' },
]

export const listRequest = 'list_models'
export const modelRequest = 'set_model'

export const controlRequest = (id: string, request: object): string =>
  `${JSON.stringify({ type: 'control_request', request_id: id, request })}\n`

export const listLine = controlRequest(listRequest, { subtype: 'list_models' })

/** It reads its input in order, so that a message that follows uses them. */
export function modelChooser(launchedWith: string | null): NonNullable<AgentDialogue['choose']> {
  const taken = (model: string | null) => (model !== null && takesModel('claude', model) ? model : null)
  let model = taken(launchedWith)
  let effort: string | null = null
  return (next) => {
    const isOther = taken(next.model) !== model
    model = taken(next.model)
    const modelLine = isOther ? controlRequest(modelRequest, { subtype: 'set_model', model }) : ''
    const isHarder = next.effort !== effort
    effort = next.effort
    const settings = { subtype: 'apply_flag_settings', settings: { effortLevel: effort } }
    return `${modelLine}${isHarder ? controlRequest('effort', settings) : ''}`
  }
}

/** Its answer to `list_models`. A model that the process was launched with is listed too, as a name of its own: that one is not everybody's. */
export function modelsIn({ models }: NonNullable<ControlResponse['response']>): readonly AgentModel[] {
  return models
    .filter(({ value, resolvedModel }) => value !== resolvedModel)
    .map(({ value, displayName, description, supportedEffortLevels }) => ({
      name: value,
      label: displayName,
      description,
      ...(supportedEffortLevels.length > 0 && { effortLevels: supportedEffortLevels }),
      ...(value === 'default' && { isDefault: true as const }),
    }))
}
