export const texts = {
  undo: 'Undo',
  deleted: { task: 'Task deleted', project: 'Project deleted' },
  failed: { task: 'Failed to delete task', project: 'Failed to delete project' },
} as const
