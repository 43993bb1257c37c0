/** Places the tool calls of sub-agents under the call that the sub-agent works for. Pure. */
import type { LogDocument } from '#domain/views/commandLog.ts'
import type { ToolPart, TurnPart } from './turnParts.ts'

/**
 * The parts of a turn in their order, with each call inside its parent. A call stays at the top level when its parent is not loaded, or did not begin
 * before the call.
 */
export function nested(parts: readonly TurnPart[]): readonly TurnPart[] {
  if (!parts.some((part) => part.kind === 'tool' && part.log.parentId !== undefined)) return parts
  const begun = new Set<string>()
  const own: TurnPart[] = []
  const ofParent = new Map<string, ToolPart[]>()
  for (const part of parts) {
    const parentId = part.kind === 'tool' ? part.log.parentId : undefined
    if (part.kind !== 'tool' || parentId === undefined || !begun.has(parentId)) own.push(part)
    else ofParent.set(parentId, [...(ofParent.get(parentId) ?? []), part])
    begun.add(part.key)
  }
  const withNested = (part: ToolPart): ToolPart => {
    // The last text of a sub-agent is left out, because it is also the output of the call.
    const its = ofParent
      .get(part.key)
      ?.filter(({ log }) => log.kind !== 'said' || log.output !== part.log.output)
    return its === undefined ? part : { ...part, nested: its.map(withNested) }
  }
  return own.map((part) => (part.kind === 'tool' ? withNested(part) : part))
}

export function sameTools(a: ToolPart, b: ToolPart): boolean {
  const [its = [], others = []] = [a.nested, b.nested]
  return (
    a.log === b.log &&
    its.length === others.length &&
    its.every((part, index) => {
      const other = others[index]
      return other !== undefined && sameTools(part, other)
    })
  )
}

/** The steps among these parts, including those of sub-agents. */
export function logsIn(parts: readonly TurnPart[]): readonly LogDocument[] {
  return parts.flatMap((part) => (part.kind === 'tool' ? [part.log, ...logsIn(part.nested ?? [])] : []))
}

/** Whether a step is a tool call, and not a thought or a text. */
export function isCall({ kind }: LogDocument): boolean {
  return kind !== 'thinking' && kind !== 'said'
}
