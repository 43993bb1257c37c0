/** Folds events about issues into the state of a project. */
import type { RecordedOf } from '../kernel/event.ts'
import type { ProjectIssueEvent } from './events.ts'
import { isLimit, issueLimits, mayResolveItself, type IssueRule } from './issueRule.ts'
import { beforeGrace, failedAtOf, isWaiting, type PassedOverIssue, type ProjectIssues } from './issues.ts'

export function withIssues(before: ProjectIssues, event: RecordedOf<ProjectIssueEvent>): ProjectIssues {
  switch (event.type) {
    case 'ProjectIssueRuleChanged': {
      const { on, mentions } = event.data
      const label = event.content?.label ?? before.rule.label
      return withRule(before, { on, label, mentions }, event.at)
    }
    case 'ProjectIssueTaken': {
      const issueId = event.content?.issueId ?? event.data.taskId
      const last = before.taken.get(issueId)
      const labelFailedAt = last === undefined ? null : failedAtOf(before, last, 'label')
      const { at, data, content: words } = event
      const taken = { ...data, at, settledAt: null, failure: null, words, labelFailedAt }
      return {
        ...before,
        taken: new Map([...before.taken, [issueId, taken]]),
        passedOver: new Map([...before.passedOver].filter(([id]) => id !== issueId)),
      }
    }
    case 'ProjectIssueSettled': {
      const { taskId, failure } = event.data
      const taken = [...before.taken].map(
        ([id, one]) => [id, one.taskId === taskId ? { ...one, settledAt: event.at, failure } : one] as const,
      )
      return { ...before, taken: new Map(taken) }
    }
    case 'ProjectIssuePassed': {
      const { content } = event
      if (content === null) return before
      const { reason } = event.data
      const others = [...before.passedOver].filter(([id]) => id !== content.issueId)
      // Only activity on the issue can end `unsure`, so it makes no issue wait. An issue that already waits keeps waiting.
      const waitsOn = reason === 'unsure' && isWaiting(before, content.issueId)
      const passedOver = {
        reason,
        isWaiting: isLimit(reason) || mayResolveItself(reason) || waitsOn,
        words: content,
      }
      return { ...before, passedOver: bounded([...others, [content.issueId, passedOver]]) }
    }
    case 'ProjectIssuesRead':
      return { ...before, readUpTo: event.content?.upTo ?? before.readUpTo, unread: null }
    case 'ProjectIssuesUnread':
      return { ...before, unread: event.data.code }
  }
}

/**
 * The state with a new rule. `since` becomes `at` for all parts when the rule was switched on, and otherwise for each part that was switched on or
 * changed.
 */
function withRule(before: ProjectIssues, rule: IssueRule, at: string): ProjectIssues {
  if (!rule.on) return { ...before, rule, unread: null }
  const isNew = !before.rule.on
  const isOtherLabel = before.rule.label.toLowerCase() !== rule.label.toLowerCase()
  const isMoreMentions = rule.mentions && !before.rule.mentions
  const { readUpTo, since } = before
  const again = beforeGrace(at)
  return {
    ...before,
    rule,
    since: {
      on: isNew ? at : since.on,
      label: isNew || isOtherLabel ? at : since.label,
      mentions: isNew || isMoreMentions ? at : since.mentions,
    },
    readUpTo: isNew ? null : readUpTo !== null && Date.parse(readUpTo) > Date.parse(again) ? again : readUpTo,
  }
}

/**
 * Keeps all issues that wait for the limit per hour or day, the latest `issueLimits.passedOver` that wait for something else, and the latest
 * `issueLimits.passedOver` that do not wait.
 */
function bounded(
  passed: readonly (readonly [string, PassedOverIssue])[],
): ReadonlyMap<string, PassedOverIssue> {
  const others = passed.filter(([, { reason }]) => !isLimit(reason))
  const latest = [true, false].flatMap((waits) =>
    others.filter(([, one]) => one.isWaiting === waits).slice(-issueLimits.passedOver),
  )
  const kept = new Set(latest.map(([id]) => id))
  return new Map(passed.filter(([id, { reason }]) => isLimit(reason) || kept.has(id)))
}
