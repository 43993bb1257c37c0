/** What somebody new is told, a step at a time. */
export const texts = {
  label: 'Next step',
  putAway: 'Hide the next steps',
  project: {
    title: 'Start with a project',
    why: 'A project is a repository that agents may work on.',
    whySample:
      'A project is a repository that agents may work on. The sample is a small JavaScript library with tests, there for you to try things on.',
    own: 'Use your own repository',
  },
  task: {
    title: 'Give an agent its first task',
    why: 'Pick one of these, or describe a task of your own above.',
    noAgent: (missing: string) => `${missing} Until then you can run commands in a task.`,
  },
  watch: {
    title: 'Follow your first task',
    why: 'Watch the agent work, write to it while it does, and see what it changes.',
    open: 'Open Task',
  },
  pullRequest: {
    title: 'Make your first pull request',
    why: 'The agent has changed files. Look at the changes, then choose Create PR.',
    open: 'Review Changes',
  },
  own: {
    title: 'Now with your own repository',
    why: 'You have gone from a task to a pull request. Your own code works the same way.',
    create: 'Use your own repository',
  },
} as const
