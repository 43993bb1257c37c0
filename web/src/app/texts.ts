/** What the frame around the pages says. */
export const texts = {
  brand: 'Flightdeck',
  nav: {
    label: 'Main',
    dashboard: 'Dashboard',
    projects: 'Projects',
    settings: 'Settings',
    menu: 'Menu',
    close: 'Close menu',
  },
  logout: 'Logout',
  skip: 'Skip to content',
  running: (count: number) => `${count} running`,
  loading: 'Loading...',
  notFound: 'Page not found',
  goHome: 'Go back home',
  tasks: 'Tasks page coming soon...',
  crashed: 'This page stopped working',
  chunkMissing: 'This page could not be loaded',
  chunkMissingWhy: 'A part of it did not arrive. Check the connection, then reload.',
  reload: 'Reload',
} as const
