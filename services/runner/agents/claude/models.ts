/** Reads the models of `claude`, and tells a running process to use another model. */
import { takesModel } from '#domain/agents/models.ts'
import type { AgentModel } from '#domain/api/server.schema.ts'
import type { AgentDialogue } from '../port.ts'
import type { ControlResponse } from './lines.ts'

/** The aliases of claude's models, each of which follows the latest model of a family; used until claude has reported its own list. */
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

/** Makes the lines that choose the model and effort. claude reads its input in order, so they apply to the next message. */
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

/**
 * The models in the answer to `list_models`, without the one that the process was launched with: everybody sees the list, but not everybody may use
 * that model.
 */
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
