/** The models that `codex` reports. */
import { z } from 'zod'
import { takesModel } from '#domain/agents/models.ts'
import type { AgentModel } from '#domain/api/server.schema.ts'

const Models = z.object({
  data: z.array(
    z.object({
      model: z.string(),
      displayName: z.string(),
      description: z.string().default(''),
      hidden: z.boolean().default(false),
      isDefault: z.boolean().default(false),
      supportedReasoningEfforts: z.array(z.object({ reasoningEffort: z.string() })).default([]),
    }),
  ),
})

/** The model, if codex can be asked to use it; otherwise `null`. */
export const taken = (model: string | null) => (model !== null && takesModel('codex', model) ? model : null)

export function modelsIn(result: unknown): readonly AgentModel[] {
  const listed = Models.safeParse(result).data?.data ?? []
  return listed
    .filter(({ hidden, isDefault }) => !hidden || isDefault)
    .map(({ model, displayName, description, isDefault, supportedReasoningEfforts: efforts }) => ({
      name: model,
      label: displayName,
      ...(description !== '' && { description }),
      ...(efforts.length > 0 && { effortLevels: efforts.map(({ reasoningEffort }) => reasoningEffort) }),
      ...(isDefault && { isDefault: true as const }),
    }))
}
