/** Texts of the services of a project. */
export const servicesTexts = {
  title: 'Services',
  why: "Processes that run beside the agent in its sandbox, such as a database or the app's own server. They start before a turn, go on between turns, and end with the sandbox. A turn waits until something listens on the ready port of each, for 60 seconds unless whoever runs the server chose otherwise; then it goes on, and the terminal says what is not ready. They get the variables and what secrets the agent gets. Where sandboxes are containers, they do not run, and the terminal says so.",
  none: 'No services yet.',
  unnamed: 'New service',
  name: 'Name',
  port: 'Ready port',
  command: 'Start command',
  placeholder: 'npm run dev -- --port 5173',
  add: 'Add Service',
  remove: (name: string) => `Remove ${name}`,
  removeUnnamed: 'Remove this service',
  most: (count: number) => `A project can have at most ${count} services.`,
} as const
