/** What somebody new is told, a step at a time. */
export const texts = {
  label: 'Next step',
  putAway: 'Hide the next steps',
  project: {
    title: 'Start with a project',
    why: 'A project is a repository that agents may work on.',
    whySample:
      'A project is a repository that agents may work on. The sample is a small JavaScript library with tests, there for you to try things on.',
    addSample: 'Add the sample project',
    own: 'Use your own repository',
  },
  task: {
    title: 'Give an agent its first task',
    why: 'Pick one of these, or describe a task of your own above.',
    forSample: [
      'Write days too: 90061 seconds are 1 d 1 h 1 min 1 s. Add a test.',
      'Explain what this library does in a README, with an example.',
      'Look for inputs that are not handled, and add tests for them.',
    ],
    forAny: [
      'Explain what this repository does and how to run it.',
      'Find a small bug and fix it. Add a test.',
      'Update the README to match the code.',
    ],
    starts: 'starts it',
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
