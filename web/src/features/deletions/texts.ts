/** What is said of deleting. */
export const texts = {
  undo: 'Undo',
  deleted: { task: 'Task deleted', project: 'Project deleted' },
  failed: { task: 'The task could not be deleted', project: 'Failed to delete project' },
} as const
