import { expect, test } from 'vitest'
import { pageRouteOf, pageRoutes } from './pageRoutes.ts'

test.each([
  ['/', '/'],
  ['/dashboard', '/dashboard'],
  ['/dashboard/', '/dashboard'],
  ['/projects/new', '/projects/new'],
  ['/projects/0192f0c1-7e1b-7000-8000-000000000001', '/projects/:projectId'],
  ['/projects/0192f0c1-7e1b-7000-8000-000000000001/settings', '/projects/:projectId/settings'],
  ['/tasks/0192f0c1-7e1b-7000-8000-000000000001', '/tasks/:taskId'],
  ['/tasks/secret/words', 'other'],
  ['/no/such/page', 'other'],
  ['', '/'],
])('the page at %s is counted as %s', (path, route) => expect(pageRouteOf(path)).toBe(route))

test('a route of pages is its own', () => expect(pageRoutes.map(pageRouteOf)).toEqual(pageRoutes))
