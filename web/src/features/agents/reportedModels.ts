/** The models of an agent and their levels of effort, as the server reports them. */
import type { AgentName } from '#domain/agents.ts'
import type { AgentModel } from '#domain/api/server.schema.ts'
import { noChosenModel } from '#domain/kernel/names.ts'
import { useAgentsQuery } from '../../api/aboutServerApi.ts'

/** The agent's models, as far as the server knows them. */
export function useModels(agent: AgentName): readonly AgentModel[] {
  const { data } = useAgentsQuery()
  return data?.agents.find(({ name }) => name === agent)?.models ?? []
}

export const modelIn = (models: readonly AgentModel[], model: string | null) =>
  models.find(({ name, isDefault }) =>
    (model ?? noChosenModel) === noChosenModel ? isDefault : name === model,
  )

/** The effort if the agent reports that level for the model; otherwise `null`. */
export const offered = (models: readonly AgentModel[], model: string | null, effort: string | null) =>
  effortLevelsOf(models, model).includes(effort ?? '') ? effort : null

export const effortLevelsOf = (models: readonly AgentModel[], model: string | null): readonly string[] =>
  modelIn(models, model)?.effortLevels ?? []
