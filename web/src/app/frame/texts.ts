/** Texts of the frame around signed-in pages. */
export const texts = {
  nav: {
    label: 'Main',
    dashboard: 'Dashboard',
    projects: 'Projects',
    figures: 'Figures',
    settings: 'Settings',
    menu: 'Menu',
  },
  find: 'Search or run a command',
  logout: 'Logout',
  skip: 'Skip to content',
  running: (count: number) => `${count} running`,
  notices: 'About this server',
  putAway: 'Dismiss',
} as const
