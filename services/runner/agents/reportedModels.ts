/** Keeps the models that agents have reported on this runner, in a file for the next start. */
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { AgentName } from '#domain/agents.ts'
import { takesModel } from '#domain/agents/models.ts'
import { AgentModel } from '#domain/api/server.schema.ts'
import { isEffortName } from '#domain/kernel/names.ts'
import { AgentName as NameOfAgent } from '#domain/task/events.ts'
import { jsonOf } from '#platform/json.ts'

export interface ReportedModels {
  of(agent: AgentName): readonly AgentModel[] | undefined
  /** Stores the models that an agent reported, in place of its earlier ones. */
  report(agent: AgentName, models: readonly AgentModel[]): void
}

const Kept = z.partialRecord(NameOfAgent, z.array(AgentModel))

/** The limits on a report: it comes from a sandbox and is shown to everybody. */
const most = { models: 50, label: 100, description: 300, levels: 10 }

export function reportedModels(file: string, onFault: (fault: unknown) => void): ReportedModels {
  let kept = readKept(file)
  let writing: Promise<void> = Promise.resolve()
  return {
    of: (agent) => kept[agent],
    report(agent, models) {
      const known = models
        .filter(({ name, isDefault }) => isDefault === true || takesModel(agent, name))
        .slice(0, most.models)
        .map(bounded)
      if (known.length === 0 || isDeepStrictEqual(known, kept[agent])) return
      kept = { ...kept, [agent]: known }
      writing = writing.then(() => write(file, JSON.stringify(kept))).catch(onFault)
    },
  }
}

/** Writes a second file and then renames it. If the runner is killed meanwhile, the earlier file stays whole. */
async function write(file: string, text: string): Promise<void> {
  await writeFile(`${file}.half`, text, { flush: true })
  await rename(`${file}.half`, file)
}

/** Reads the kept models from `file`; returns none if the file is missing or damaged, because the agents report their models again. */
function readKept(file: string): z.infer<typeof Kept> {
  try {
    return Kept.safeParse(jsonOf(readFileSync(file, 'utf8'))).data ?? {}
  } catch {
    return {}
  }
}

function bounded({ label, description, effortLevels = [], ...model }: AgentModel): AgentModel {
  const levels = effortLevels.filter(isEffortName).slice(0, most.levels)
  return {
    ...model,
    label: label.slice(0, most.label),
    ...(description !== undefined && { description: description.slice(0, most.description) }),
    ...(levels.length > 0 && { effortLevels: levels }),
  }
}
