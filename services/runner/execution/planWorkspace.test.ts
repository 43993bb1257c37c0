import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasWorkToRestore, planWorkspace, type DiskFacts, type TaskFacts } from './planWorkspace.ts'

const task: TaskFacts = { pendingRestore: null, hadWorkspace: true, hasSnapshot: true, isMerged: false }
const found: DiskFacts = { isNew: false, isOnPushedBranch: false, branchHasEvictedWork: false }
const made: DiskFacts = { ...found, isNew: true }
const newTask: TaskFacts = { ...task, hadWorkspace: false, hasSnapshot: false }

describe('the plan for a workspace', () => {
  test.each([
    ['that is there', task, found, 'reuse'],
    ['that is there, after an undo', { ...task, pendingRestore: 'undo' }, found, 'restore_in_place'],
    ['that is there, of a fork', { ...task, pendingRestore: 'fork' }, found, 'recreate'],
    ['of a new task', newTask, made, 'create'],
    ['of a fork', { ...newTask, pendingRestore: 'fork' }, made, 'restore_moment'],
    ['that is lost, after an undo', { ...task, pendingRestore: 'undo' }, made, 'restore_moment'],
    ['that is lost', task, made, 'restore_snapshot'],
    ['that is lost, without a snapshot', { ...task, hasSnapshot: false }, made, 'restore_snapshot'],
    [
      'that was evicted once all was pushed',
      task,
      { ...made, isOnPushedBranch: true, branchHasEvictedWork: true },
      'continue_from_branch',
    ],
    ['that was cleaned up after a merge', { ...task, isMerged: true }, made, 'start_after_merge'],
    [
      'that was cleaned up, and whose branch stands',
      { ...task, isMerged: true },
      { ...made, isOnPushedBranch: true },
      'restore_snapshot',
    ],
  ] as const)('%s', (_what, ofTask, onDisk, plan) => {
    expect(planWorkspace(ofTask, onDisk)).toBe(plan)
  })

  const facts = fc.record({
    task: fc.record({
      pendingRestore: fc.constantFrom('fork', 'undo', null),
      hadWorkspace: fc.boolean(),
      hasSnapshot: fc.boolean(),
      isMerged: fc.boolean(),
    }),
    disk: fc.record({
      isNew: fc.boolean(),
      isOnPushedBranch: fc.boolean(),
      branchHasEvictedWork: fc.boolean(),
    }),
  })

  test('never lets a run begin in files of another moment than the one that is asked for', () =>
    fc.assert(
      fc.property(facts, ({ task: ofTask, disk }) => {
        const restores = ['restore_in_place', 'restore_moment', 'recreate']
        expect(restores.includes(planWorkspace(ofTask, disk))).toBe(ofTask.pendingRestore !== null)
      }),
    ))

  test('keeps what is there, and restores into what is new', () =>
    fc.assert(
      fc.property(facts, ({ task: ofTask, disk }) => {
        const plan = planWorkspace(ofTask, disk)
        expect(['reuse', 'restore_in_place', 'recreate'].includes(plan)).toBe(!disk.isNew)
        expect(plan === 'create').toBe(disk.isNew && !hasWorkToRestore(ofTask))
      }),
    ))
})
