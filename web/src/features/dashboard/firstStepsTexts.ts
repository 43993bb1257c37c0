/** What somebody new is told, a step at a time. */
export const texts = {
  label: 'Next step',
  putAway: 'Hide next steps',
  project: {
    title: 'Start with a project',
    why: 'A project is a repository that agents can work on.',
    whySample:
      'A project is a repository that agents can work on. The sample is a small JavaScript library with tests, made to try things out on.',
    own: 'Use Your Own Repository',
  },
  task: {
    title: 'Give an agent its first task',
    why: 'Pick a suggestion, or describe your own task above.',
    noAgent: (missing: string) => `${missing} You can still run commands in a task.`,
  },
  watch: {
    title: 'Follow your first task',
    why: 'Watch the agent work, send it messages, and see what it changes.',
    open: 'Open Task',
  },
  pullRequest: {
    title: 'Create your first pull request',
    why: 'The agent changed some files. Review the changes, then choose Create PR.',
    open: 'Review Changes',
  },
  own: {
    title: 'Now try your own repository',
    why: 'You took a task to a pull request. It works the same way with your own code.',
    create: 'Use Your Own Repository',
  },
} as const
