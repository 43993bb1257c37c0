/** What is said of the agent's commands; a part of its own, since the list is. */
export const slashTexts = {
  commands: "The agent's commands",
  whileWorking: 'While the agent works, commands wait until it finishes.',
} as const
